/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/*
 * The peak of this program alone: getrusage(2) would also tell that of
 * whatever ran in this process before exec.
 */
static uint64_t peak_memory_bytes(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t kib = ACT_UNKNOWN;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib == ACT_UNKNOWN ? ACT_UNKNOWN : kib * 1024;
}

void account_take(struct account *account, const struct recorder *recorder, const char *log)
{
	uint64_t forks = recorder_forks(recorder);

	*account = (struct account){
		.processes = recorder->processes, .failed = recorder->failed,
		.killed = recorder->killed, .partial = recorder->partial,
		.forks = forks == ACT_UNKNOWN || recorder->began_forks == ACT_UNKNOWN ?
			ACT_UNKNOWN : forks - recorder->began_forks,
		.wall_ns = clock_wall_ns() - recorder->began_ns,
		.cpu_ns = clock_own_cpu_ns(),
		.memory_bytes = peak_memory_bytes(),
		.log = log,
	};
	act_source_stats(recorder->source, &account->source);
	act_log_writer_stats(recorder->writer, &account->written);
	account->lost_storage = account->written.dropped_exits;
	account->recorded = recorder->exits - account->lost_storage;
	account->lost = account->source.lost + account->lost_storage;
}

static double per(double value, uint64_t count)
{
	return count ? value / (double)count : NAN;
}

static double bytes_a_record(const struct account *account)
{
	return per((double)account->written.bytes,
		   account->written.records - account->written.dropped);
}

static double cpu_s_per_100000(const struct account *account)
{
	return per((double)account->cpu_ns / 1e9 * 1e5, account->recorded);
}

static void print_losses(const struct account *account, struct out *out)
{
	const char *separator = " (";

	out_printf(out, "lost       %" PRIu64, account->lost);
	for (size_t i = 0; i < account->source.cpus; i++) {
		out_printf(out, "%scpu %d: %" PRIu64, separator, account->source.cpu[i].cpu,
			   account->source.cpu[i].lost);
		separator = ", ";
	}
	if (account->lost_storage) {
		out_printf(out, "%sno room in the log: %" PRIu64, separator,
			   account->lost_storage);
		separator = ", ";
	}
	out_string(out, *separator == ',' ? ")\n" : "\n");
}

void account_print(const struct account *account, struct out *out)
{
	char wall[64], bytes[64], cpu[64], memory[64];

	format_duration(account->wall_ns, wall, sizeof(wall));
	format_size(account->written.bytes, bytes, sizeof(bytes));
	format_duration(account->cpu_ns, cpu, sizeof(cpu));
	format_value(ACT_TYPE_SIZE, account->memory_bytes, memory, sizeof(memory));
	out_printf(out, "recorded   %" PRIu64 " of %" PRIu64 " exits in %s\n", account->recorded,
		   account->recorded + account->lost, wall);
	print_losses(account, out);
	out_printf(out, "processes  %" PRIu64 " ended; %" PRIu64 " failed, %" PRIu64
		   " killed, %" PRIu64 " partial\n", account->processes, account->failed,
		   account->killed, account->partial);
	if (account->forks != ACT_UNKNOWN)
		out_printf(out, "forks      %" PRIu64 " as the kernel counted them\n",
			   account->forks);
	out_string(out, "log        ");
	out_text_escaped(out, account->log, strlen(account->log));
	out_printf(out, ", %s", bytes);
	if (account->written.records > account->written.dropped)
		out_printf(out, ", %.1f bytes a record", bytes_a_record(account));
	out_printf(out, "\nown cpu    %s", cpu);
	if (account->recorded)
		out_printf(out, ", %.3f s per 100000 exits", cpu_s_per_100000(account));
	out_printf(out, "; memory %s at its peak\n", memory);
}

/* Exits that count for another CPU than the one whose number they have. */
static uint64_t count_foreign(const struct account *account)
{
	uint64_t foreign = 0;

	for (size_t i = 0; i < account->source.cpus; i++)
		foreign += account->source.cpu[i].foreign;
	return foreign;
}

static void print_json_losses(const struct account *account, struct out *out)
{
	out_json_begin_object(out, "lost_by_cpu");
	for (size_t i = 0; i < account->source.cpus; i++) {
		char cpu[16];

		snprintf(cpu, sizeof(cpu), "%d", account->source.cpu[i].cpu);
		out_json_u64(out, cpu, account->source.cpu[i].lost);
	}
	out_json_close(out);
	out_json_u64(out, "lost_storage", account->lost_storage);
	out_json_u64(out, "foreign", count_foreign(account));
}

void account_print_json(const struct account *account, struct out *out)
{
	out_json_begin(out);
	out_json_u64(out, "recorded", account->recorded);
	out_json_u64(out, "lost", account->lost);
	print_json_losses(account, out);
	out_json_u64(out, "processes", account->processes);
	out_json_u64(out, "failed", account->failed);
	out_json_u64(out, "killed", account->killed);
	out_json_u64(out, "partial", account->partial);
	out_json_u64(out, "forks", account->forks);
	out_json_u64(out, "enobufs", account->source.enobufs);
	out_json_u64(out, "drops", account->source.drops);
	out_json_u64(out, "truncated", account->source.truncated);
	out_json_u64(out, "alien", account->source.alien);
	out_json_u64(out, "taskstats_version",
		     account->source.version ? account->source.version : ACT_UNKNOWN);
	out_json_string(out, "log", account->log, strlen(account->log));
	out_json_u64(out, "records", account->written.records - account->written.dropped);
	out_json_u64(out, "bytes", account->written.bytes);
	out_json_double(out, "bytes_per_record", bytes_a_record(account));
	out_json_u64(out, "segments", account->written.segments);
	out_json_u64(out, "syncs", account->written.syncs);
	out_json_u64(out, "wall_ns", account->wall_ns);
	out_json_u64(out, "cpu_ns", account->cpu_ns);
	out_json_double(out, "cpu_s_per_100000", cpu_s_per_100000(account));
	out_json_u64(out, "memory_bytes", account->memory_bytes);
	out_json_end(out);
}
