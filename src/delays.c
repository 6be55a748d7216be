/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "delays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIND(name, words) \
	{ .key = #name, .title = words, .count = ACT_F_##name##_delay_count, \
	  .total_ns = ACT_F_##name##_delay_ns, .max_ns = ACT_F_##name##_delay_max_ns, \
	  .min_ns = ACT_F_##name##_delay_min_ns }

const struct delay_kind delay_kinds[DELAY_KINDS] = {
	KIND(cpu, "CPU"),
	KIND(blkio, "block I/O"),
	KIND(swapin, "swap-in"),
	KIND(freepages, "reclaim"),
	KIND(thrashing, "thrashing"),
	KIND(compact, "compaction"),
	KIND(wpcopy, "write-protect copy"),
	KIND(irq, "IRQ"),
};

const enum act_field delays_figures[] = {
	ACT_F_wall_ns, ACT_F_cpu_ns, ACT_F_user_ns, ACT_F_system_ns, ACT_F_nvcsw, ACT_F_nivcsw,
	ACT_F_rchar_bytes, ACT_F_wchar_bytes, ACT_F_syscr, ACT_F_syscw, ACT_F_read_bytes,
	ACT_F_write_bytes, ACT_F_cancelled_bytes,
};
const size_t delays_figures_count = sizeof(delays_figures) / sizeof(*delays_figures);

_Static_assert(sizeof(delays_figures) / sizeof(*delays_figures) <= DELAYS_FIGURES_MAX,
	       "struct delays has room for all figures");

void delays_init(struct delays *delays)
{
	memset(delays, 0, sizeof(*delays));
	for (size_t i = 0; i < DELAY_KINDS; i++) {
		struct delay_sum *sum = &delays->sum[i];

		sum->count = sum->total_ns = sum->max_ns = sum->min_ns = ACT_UNKNOWN;
		sum->wall_ns = ACT_UNKNOWN;
	}
	for (size_t i = 0; i < DELAYS_FIGURES_MAX; i++)
		delays->figure[i] = ACT_UNKNOWN;
}

void delays_fields(struct act_field_set *fields)
{
	for (size_t i = 0; i < DELAY_KINDS; i++) {
		act_field_set_add(fields, delay_kinds[i].count);
		act_field_set_add(fields, delay_kinds[i].total_ns);
		act_field_set_add(fields, delay_kinds[i].max_ns);
		act_field_set_add(fields, delay_kinds[i].min_ns);
	}
	for (size_t i = 0; i < delays_figures_count; i++)
		act_field_set_add(fields, delays_figures[i]);
}

void add_known(uint64_t *sum, uint64_t value)
{
	if (value == ACT_UNKNOWN)
		return;
	*sum = *sum == ACT_UNKNOWN ? value : *sum + value;
}

static void add_extremes(struct delay_sum *sum, uint64_t max_ns, uint64_t min_ns)
{
	if (max_ns == ACT_UNKNOWN || min_ns == ACT_UNKNOWN) {
		sum->lacks_extremes = true;
		return;
	}
	if (sum->max_ns == ACT_UNKNOWN || max_ns > sum->max_ns)
		sum->max_ns = max_ns;
	if (sum->min_ns == ACT_UNKNOWN || min_ns < sum->min_ns)
		sum->min_ns = min_ns;
}

static void add_kind(struct delay_sum *sum, const struct delay_kind *kind,
		     const struct act_record *record)
{
	uint64_t count = record->value[kind->count];

	if (count == ACT_UNKNOWN || record->value[kind->total_ns] == ACT_UNKNOWN)
		return;
	add_known(&sum->count, count);
	add_known(&sum->total_ns, record->value[kind->total_ns]);
	add_known(&sum->wall_ns, record->wall_ns);
	/* Without a wait the kernel says 0 for the longest and the shortest. */
	if (count > 0)
		add_extremes(sum, record->value[kind->max_ns], record->value[kind->min_ns]);
}

void delays_add(struct delays *delays, const struct act_record *record)
{
	delays->records++;
	if (record->blkio_delay_count == ACT_UNKNOWN)
		delays->uncounted++;
	for (size_t i = 0; i < DELAY_KINDS; i++)
		add_kind(&delays->sum[i], &delay_kinds[i], record);
	for (size_t i = 0; i < delays_figures_count; i++)
		add_known(&delays->figure[i], record->value[delays_figures[i]]);
}

uint64_t delays_figure(const struct delays *delays, enum act_field field)
{
	for (size_t i = 0; i < delays_figures_count; i++)
		if (delays_figures[i] == field)
			return delays->figure[i];
	return ACT_UNKNOWN;
}

uint64_t delay_mean_ns(const struct delay_sum *sum)
{
	if (sum->count == ACT_UNKNOWN || sum->count == 0)
		return ACT_UNKNOWN;
	return sum->total_ns / sum->count;
}

double delay_share(const struct delay_sum *sum)
{
	if (sum->total_ns == ACT_UNKNOWN || sum->wall_ns == ACT_UNKNOWN || sum->wall_ns == 0)
		return NAN;
	return (double)sum->total_ns / (double)sum->wall_ns;
}

static uint64_t max_of(const struct delay_sum *sum)
{
	return sum->lacks_extremes ? ACT_UNKNOWN : sum->max_ns;
}

static uint64_t min_of(const struct delay_sum *sum)
{
	return sum->lacks_extremes ? ACT_UNKNOWN : sum->min_ns;
}

uint64_t delays_total_ns(const struct delays *delays)
{
	uint64_t total_ns = 0;

	for (size_t i = 0; i < DELAY_KINDS; i++)
		add_known(&total_ns, delays->sum[i].total_ns);
	return total_ns;
}

/* ---- For people ---- */

static void print_value(const struct delays *delays, struct out *out, const char *before,
			enum act_field field)
{
	char text[64];

	out_string(out, before);
	out_bytes(out, text, format_value(act_field_table[field].type,
					  delays_figure(delays, field), text, sizeof(text)));
}

void delays_print_figures(const struct delays *delays, struct out *out)
{
	print_value(delays, out, "wall time         ", ACT_F_wall_ns);
	print_value(delays, out, "\nCPU time          ", ACT_F_cpu_ns);
	print_value(delays, out, " (user ", ACT_F_user_ns);
	print_value(delays, out, ", system ", ACT_F_system_ns);
	print_value(delays, out, ")\ncontext switches  voluntary ", ACT_F_nvcsw);
	print_value(delays, out, ", involuntary ", ACT_F_nivcsw);
	print_value(delays, out, "\nby system calls   read ", ACT_F_rchar_bytes);
	print_value(delays, out, " in ", ACT_F_syscr);
	print_value(delays, out, ", written ", ACT_F_wchar_bytes);
	print_value(delays, out, " in ", ACT_F_syscw);
	print_value(delays, out, "\nfrom storage      read ", ACT_F_read_bytes);
	print_value(delays, out, ", written ", ACT_F_write_bytes);
	print_value(delays, out, ", cancelled ", ACT_F_cancelled_bytes);
	out_string(out, "\n\n");
}

void delays_columns(struct table *table, bool has_name)
{
	static const char *const headings[] = { "COUNT", "TOTAL", "MEAN", "MAX", "MIN", "SHARE" };

	if (has_name)
		table_column(table, "COMMAND", false);
	table_column(table, "WAIT FOR", false);
	for (size_t i = 0; i < sizeof(headings) / sizeof(*headings); i++)
		table_column(table, headings[i], true);
}

static void share_cell(const struct delay_sum *sum, struct table *table, bool is_csv)
{
	double share = delay_share(sum);
	char text[64] = "-";

	if (isnan(share))
		text[is_csv ? 0 : 1] = '\0';
	else
		snprintf(text, sizeof(text), is_csv ? "%.6f" : "%.1f%%",
			 is_csv ? share : share * 100);
	table_cell(table, text, strlen(text));
}

void delays_rows(const struct delays *delays, struct table *table, const char *name, bool is_csv)
{
	for (size_t i = 0; i < DELAY_KINDS; i++) {
		const struct delay_sum *sum = &delays->sum[i];
		const char *title = is_csv ? delay_kinds[i].key : delay_kinds[i].title;

		if (name && !is_csv && (sum->count == 0 || sum->count == ACT_UNKNOWN))
			continue;
		if (name)
			table_cell(table, name, strlen(name));
		table_cell(table, title, strlen(title));
		table_cell_value(table, ACT_TYPE_NUMBER, sum->count);
		table_cell_value(table, ACT_TYPE_DURATION, sum->total_ns);
		table_cell_value(table, ACT_TYPE_DURATION, delay_mean_ns(sum));
		table_cell_value(table, ACT_TYPE_DURATION, max_of(sum));
		table_cell_value(table, ACT_TYPE_DURATION, min_of(sum));
		share_cell(sum, table, is_csv);
	}
}

/* ---- For programs ---- */

void delays_json(const struct delays *delays, struct out *out)
{
	for (size_t i = 0; i < delays_figures_count; i++)
		out_json_u64(out, act_field_table[delays_figures[i]].name, delays->figure[i]);
	out_json_begin_object(out, "delays");
	for (size_t i = 0; i < DELAY_KINDS; i++) {
		const struct delay_sum *sum = &delays->sum[i];

		out_json_begin_object(out, delay_kinds[i].key);
		out_json_u64(out, "count", sum->count);
		out_json_u64(out, "total_ns", sum->total_ns);
		out_json_u64(out, "mean_ns", delay_mean_ns(sum));
		out_json_u64(out, "max_ns", max_of(sum));
		out_json_u64(out, "min_ns", min_of(sum));
		out_json_double(out, "share", delay_share(sum));
		out_json_close(out);
	}
	out_json_close(out);
}
