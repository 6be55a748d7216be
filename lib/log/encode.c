/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records to columns.  Each column is told as differences to whatever predicts
 * it best (the row before, the last row of the same command, another field),
 * divided by what divides them all (clock ticks, microseconds, pages), and laid
 * out byte by byte, so that zstd sees the noise of low bytes and the silence of
 * high ones apart.
 */
/* Short loops over columns are all that is done here: GCC vectorizes them at -O3 only. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "log/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/wide.h"

#define LEVEL 1
#define MIN_MATCH 7     /* short repeats of a column are not worth reading them */
#define TEXT_SLOTS 8192 /* a power of two, more than twice the texts of most groups */
#define SAMPLES 256     /* rows looked at to choose what predicts a column, about */

/*
 * Most fields have one value in most groups: rows are written out only once a
 * second value comes, which spares as many streams of memory.
 */
struct group {
	size_t room, rows;
	uint64_t *column[ACT_FIELDS]; /* by row, if it varies; NULL: derived */
	uint64_t first[ACT_FIELDS];   /* the value in row 0 */
	uint64_t is_constant[ACT_FIELDS]; /* all bits set while it is, else none */
	uint8_t varying[ACT_FIELDS];
	size_t varying_count;
	struct schema schema;
	uint64_t number[ACT_FIELDS];   /* of a stored field: its column in the schema */
	/* The different names, one after the other, and a hash table of them. */
	struct buffer texts;
	uint32_t *text_at;     /* offset of text i */
	uint32_t texts_count;
	char last_text[ACT_COMM_SIZE]; /* of the last row */
	uint32_t slot[TEXT_SLOTS]; /* text + 1, 0: free */
	/* Work space for one column. */
	int32_t *same_comm;    /* the last row with the same name, -1: none */
	int32_t *last_of_text;
	uint64_t *filled;
	uint64_t *residual;
	uint8_t *planes;
	uint64_t *derived;
	struct buffer directory, frames;
	ZSTD_CCtx *zstd;
};

void group_free(struct group *group)
{
	if (!group)
		return;
	for (int field = 0; field < ACT_FIELDS; field++)
		free(group->column[field]);
	buffer_release(&group->texts);
	buffer_release(&group->directory);
	buffer_release(&group->frames);
	free(group->text_at);
	free(group->same_comm);
	free(group->last_of_text);
	free(group->filled);
	free(group->residual);
	free(group->planes);
	free(group->derived);
	ZSTD_freeCCtx(group->zstd);
	free(group);
}

struct group *group_new(size_t rows)
{
	struct group *group = calloc(1, sizeof(*group));
	bool failed = false;

	if (!group)
		return NULL;
	group->room = rows;
	schema_own(&group->schema);
	for (size_t i = 0; i < group->schema.columns; i++)
		group->number[group->schema.field[i]] = i;
	for (int field = 0; field < ACT_FIELDS; field++) {
		if (!field_is_stored(field))
			continue;
		group->column[field] = malloc(rows * sizeof(uint64_t));
		failed |= !group->column[field];
	}
	group->text_at = malloc(rows * sizeof(*group->text_at));
	group->same_comm = malloc(rows * sizeof(*group->same_comm));
	group->last_of_text = malloc(rows * sizeof(*group->last_of_text));
	group->filled = malloc(rows * sizeof(*group->filled));
	group->residual = malloc(rows * sizeof(*group->residual));
	group->derived = malloc(rows * sizeof(*group->derived));
	/* A bit map, up to eight planes. */
	group->planes = malloc(rows / 8 + 1 + rows * sizeof(uint64_t));
	group->zstd = ZSTD_createCCtx();
	if (failed || !group->schema.columns || !group->text_at || !group->same_comm ||
	    !group->last_of_text ||
	    !group->filled || !group->residual || !group->derived || !group->planes ||
	    !group->zstd) {
		group_free(group);
		return NULL;
	}
	ZSTD_CCtx_setParameter(group->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(group->zstd, ZSTD_c_contentSizeFlag, 0);
	ZSTD_CCtx_setParameter(group->zstd, ZSTD_c_minMatch, MIN_MATCH);
	return group;
}

void group_clear(struct group *group)
{
	group->rows = 0;
	group->texts_count = 0;
	buffer_clear(&group->texts);
	memset(group->slot, 0, sizeof(group->slot));
}

size_t group_rows(const struct group *group)
{
	return group->rows;
}

static const char *text_of(const struct group *group, uint32_t index)
{
	return (const char *)group->texts.data + group->text_at[index];
}

static uint32_t intern(struct group *group, const char *text)
{
	size_t length = strnlen(text, ACT_COMM_SIZE - 1);
	uint64_t hash = format_checksum(text, length);
	uint32_t index;

	for (size_t probe = 0; probe < TEXT_SLOTS; probe++) {
		uint32_t *slot = &group->slot[(hash + probe) & (TEXT_SLOTS - 1)];

		if (!*slot)
			*slot = group->texts_count + 1;
		else if (strlen(text_of(group, *slot - 1)) == length &&
			 memcmp(text_of(group, *slot - 1), text, length) == 0)
			return *slot - 1;
		else
			continue;
		break;
	}
	/* In a full table a text may be kept twice, which harms nobody. */
	index = group->texts_count++;
	group->text_at[index] = (uint32_t)group->texts.length;
	buffer_append(&group->texts, text, length);
	buffer_append_u8(&group->texts, 0);
	return index;
}

/* Names come in runs: that of the row before is looked at first. */
static uint32_t text_number(struct group *group, const char *text)
{
	if (group->rows && memcmp(group->last_text, text, sizeof(group->last_text)) == 0)
		return (uint32_t)group->column[ACT_F_comm][group->rows - 1];
	memcpy(group->last_text, text, sizeof(group->last_text));
	return intern(group, text);
}

static bool varies(const struct group *group, enum act_field field)
{
	return !group->is_constant[field];
}

/* Writes out the rows so far. */
static void begin_to_vary(struct group *group, enum act_field field)
{
	for (size_t row = 0; row < group->rows; row++)
		group->column[field][row] = group->first[field];
	group->is_constant[field] = 0;
	group->varying[group->varying_count++] = (uint8_t)field;
}

static void begin_rows(struct group *group, const struct act_record *record)
{
	memcpy(group->first, record->value, sizeof(group->first));
	for (size_t i = 0; i < group->schema.columns; i++)
		group->is_constant[group->schema.field[i]] = UINT64_MAX;
	group->varying_count = 0;
	begin_to_vary(group, ACT_F_comm);
}

WIDE
static void find_varying(struct group *group, const struct act_record *record)
{
	uint64_t differs = 0;

	for (int field = 0; field < ACT_FIELDS; field++)
		differs |= (record->value[field] ^ group->first[field]) & group->is_constant[field];
	for (int field = 0; differs && field < ACT_FIELDS; field++)
		if ((record->value[field] ^ group->first[field]) & group->is_constant[field])
			begin_to_vary(group, (enum act_field)field);
}

void group_append(struct group *group, const struct act_record *record)
{
	if (group->rows == 0)
		begin_rows(group, record);
	find_varying(group, record);
	for (size_t i = 0; i < group->varying_count; i++)
		group->column[group->varying[i]][group->rows] = record->value[group->varying[i]];
	group->column[ACT_F_comm][group->rows] = text_number(group, record->comm_text);
	group->rows++;
}

static uint64_t value_at(const struct group *group, enum act_field field, size_t row)
{
	return varies(group, field) ? group->column[field][row] : group->first[field];
}

uint64_t group_exits(const struct group *group, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t row = from; row < to; row++) {
		uint64_t exits = value_at(group, ACT_F_exits, row);

		sum += exits == ACT_UNKNOWN ? 0 : exits;
	}
	return sum;
}

void group_span(const struct group *group, size_t from, size_t to,
		uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	*ret_first_ns = UINT64_MAX;
	*ret_last_ns = 0;
	for (size_t row = from; row < to; row++) {
		uint64_t end_ns = value_at(group, ACT_F_end_ns, row);

		if (end_ns == ACT_UNKNOWN)
			continue;
		if (end_ns < *ret_first_ns)
			*ret_first_ns = end_ns;
		if (end_ns > *ret_last_ns)
			*ret_last_ns = end_ns;
	}
	if (*ret_first_ns > *ret_last_ns)
		*ret_first_ns = *ret_last_ns = ACT_UNKNOWN;
}

/* ---- What predicts a column ---- */

/* Fields that often equal another one of the same record, which stands before it. */
static int likely_base(enum act_field field)
{
	switch (field) {
	case ACT_F_tid:
		return ACT_F_pid;
	case ACT_F_gid:
		return ACT_F_uid;
	case ACT_F_tgetime_ns:
		return ACT_F_wall_ns;
	case ACT_F_run_real_ns:
		return ACT_F_cpu_ns;
	case ACT_F_run_scaled_ns:
		return ACT_F_run_real_ns;
	case ACT_F_user_scaled_ns:
		return ACT_F_user_ns;
	case ACT_F_system_scaled_ns:
		return ACT_F_system_ns;
	case ACT_F_run_ns:
		return ACT_F_wall_ns;
	case ACT_F_wpcopy_delay_count:
		return ACT_F_minflt;
	default:
		break;
	}
	/* With one wait the longest and the shortest are the sum. */
	if (act_field_table[field].fold == ACT_FOLD_MAX && field > 0 &&
	    act_field_table[field - 1].type == ACT_TYPE_DURATION)
		return (int)field - 1;
	if (act_field_table[field].fold == ACT_FOLD_MIN)
		return (int)field - 1;
	return -1;
}

/* A part of the group, and one of its columns. */
struct part {
	struct group *group;
	size_t from, rows;
	const uint64_t *value;
	const uint64_t *other; /* the likely base's values, or NULL */
	int base_field;
	uint64_t min, max;     /* of the known ones */
	bool has_unknown;
	/* What was chosen. */
	enum column_base base;
	uint64_t scale;
	unsigned int width;
};

/* Rows [part->from, ...) of a stored field. */
static const uint64_t *stored_values(const struct part *part, enum act_field field)
{
	if (!varies(part->group, field))
		begin_to_vary(part->group, field);
	return part->group->column[field] + part->from;
}

static const uint64_t *values_of(const struct part *part, enum act_field field)
{
	struct group *group = part->group;
	const int *from;

	if (group->column[field])
		return stored_values(part, field);
	from = act_field_derivation(field)->from;
	act_field_derive(field, stored_values(part, (enum act_field)from[0]),
			 from[1] < 0 ? NULL : stored_values(part, (enum act_field)from[1]),
			 group->derived, part->rows);
	return group->derived;
}

static void find_same_comm(struct part *part)
{
	struct group *group = part->group;
	const uint64_t *text = stored_values(part, ACT_F_comm);

	for (uint32_t i = 0; i < group->texts_count; i++)
		group->last_of_text[i] = -1;
	for (size_t row = 0; row < part->rows; row++) {
		group->same_comm[row] = group->last_of_text[text[row]];
		group->last_of_text[text[row]] = (int32_t)row;
	}
}

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t predict(const struct part *part, enum column_base base,
			       const uint64_t *seen, size_t row)
{
	switch (base) {
	case BASE_MINIMUM:
		return part->min;
	case BASE_PREVIOUS:
		return row ? seen[row - 1] : 0;
	case BASE_SAME_COMM:
		return part->group->same_comm[row] < 0 ? 0 : seen[part->group->same_comm[row]];
	case BASE_FIELD:
		return part->other[row];
	}
	return 0;
}

static inline unsigned int bits_of(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static size_t sample_step(const struct part *part)
{
	return part->rows / SAMPLES + 1;
}

/* To be called with a constant base, so that each is compiled for itself. */
static inline uint64_t cost_of(const struct part *part, enum column_base base)
{
	size_t step = sample_step(part);
	uint64_t bits = 0;

	for (size_t row = 0; row < part->rows; row += step) {
		uint64_t value = part->value[row], difference;

		if (value == ACT_UNKNOWN)
			continue;
		difference = value - predict(part, base, part->value, row);
		bits += base == BASE_MINIMUM ? bits_of(difference) : bits_of(zigzag(difference));
	}
	return bits;
}

/*
 * For differences from the minimum of a column that spans more than 63 bits
 * the signed division below would be wrong: such a column is told from the row
 * before.
 */
static void choose_base(struct part *part)
{
	uint64_t cost[] = {
		[BASE_MINIMUM] = cost_of(part, BASE_MINIMUM),
		[BASE_PREVIOUS] = cost_of(part, BASE_PREVIOUS),
		[BASE_SAME_COMM] = cost_of(part, BASE_SAME_COMM),
		[BASE_FIELD] = part->other ? cost_of(part, BASE_FIELD) : UINT64_MAX,
	};
	/* Half a bit a row is worth less than reading rows one by one. */
	uint64_t margin = part->rows / sample_step(part) / 2;

	part->base = BASE_MINIMUM;
	for (int base = BASE_PREVIOUS; base <= BASE_FIELD; base++)
		if (cost[base] < cost[part->base] && cost[part->base] - cost[base] > margin)
			part->base = (enum column_base)base;
	if (part->base == BASE_MINIMUM && part->max - part->min > INT64_MAX)
		part->base = BASE_PREVIOUS;
}

/* ---- One column ---- */

WIDE
static void look_at(struct part *part, bool *ret_constant)
{
	uint64_t first = part->value[0], differs = 0, min = UINT64_MAX, max = 0;
	size_t unknowns = 0;

	for (size_t row = 0; row < part->rows; row++) {
		differs |= part->value[row] ^ first;
		unknowns += part->value[row] == ACT_UNKNOWN;
	}
	*ret_constant = !differs;
	part->has_unknown = unknowns > 0;
	if (!differs)
		return;
	for (size_t row = 0; row < part->rows; row++) {
		uint64_t value = part->value[row];
		uint64_t low = value == ACT_UNKNOWN ? UINT64_MAX : value;
		uint64_t high = value == ACT_UNKNOWN ? 0 : value;

		min = low < min ? low : min;
		max = high > max ? high : max;
	}
	part->min = min;
	part->max = max;
}

/*
 * An unknown value stands for the one predicted, so that it costs nothing; the
 * bit map tells it.  So has the decoder it in its row before it hides it.
 */
static const uint64_t *fill_unknowns(const struct part *part)
{
	uint64_t *filled = part->group->filled;

	if (!part->has_unknown)
		return part->value;
	for (size_t row = 0; row < part->rows; row++)
		filled[row] = part->value[row] != ACT_UNKNOWN
				      ? part->value[row]
				      : predict(part, part->base, filled, row);
	return filled;
}

/* To be called with a constant base, so that each gets a loop of its own. */
static inline void subtract(const struct part *part, enum column_base base,
			    const uint64_t *value)
{
	uint64_t *restrict residual = part->group->residual;

	for (size_t row = 0; row < part->rows; row++)
		residual[row] = value[row] - predict(part, base, value, row);
}

/* Signed differences as they are, for the common divisor. */
WIDE
static void take_differences(struct part *part)
{
	const uint64_t *value = fill_unknowns(part);

	switch (part->base) {
	case BASE_MINIMUM:
		subtract(part, BASE_MINIMUM, value);
		break;
	case BASE_PREVIOUS:
		subtract(part, BASE_PREVIOUS, value);
		break;
	case BASE_SAME_COMM:
		subtract(part, BASE_SAME_COMM, value);
		break;
	case BASE_FIELD:
		subtract(part, BASE_FIELD, value);
		break;
	}
}

#define DEFINE_DIVIDE(divisor) \
	static bool divide_by_##divisor(const uint64_t *value, size_t rows, uint64_t *ret) \
	{ \
		for (size_t row = 0; row < rows; row++) { \
			int64_t quotient = (int64_t)value[row] / divisor; \
			if (quotient * divisor != (int64_t)value[row]) \
				return false; \
			ret[row] = (uint64_t)quotient; \
		} \
		return true; \
	}
/* One function each: a division by a constant is a multiplication. */
DEFINE_DIVIDE(1000000000)
DEFINE_DIVIDE(10000000)
DEFINE_DIVIDE(4000000)
DEFINE_DIVIDE(1000000)
DEFINE_DIVIDE(4096)
DEFINE_DIVIDE(1024)
DEFINE_DIVIDE(1000)

#define DIVISOR(divisor) { divisor, divide_by_##divisor }

static const struct {
	uint64_t divisor;
	bool (*divide)(const uint64_t *value, size_t rows, uint64_t *ret);
} divisors[] = {
	DIVISOR(1000000000),
	DIVISOR(10000000), /* ticks at 100 HZ */
	DIVISOR(4000000),  /* at 250 */
	DIVISOR(1000000),  /* at 1000 */
	DIVISOR(4096),     /* pages */
	DIVISOR(1024),
	DIVISOR(1000),     /* microseconds */
};

WIDE
static uint64_t bits_set_in_any(const uint64_t *value, size_t rows)
{
	uint64_t bits = 0;

	for (size_t row = 0; row < rows; row++)
		bits |= value[row];
	return bits;
}

static void scale_down(struct part *part)
{
	struct group *group = part->group;
	uint64_t bits = bits_set_in_any(group->residual, part->rows);

	part->scale = 1;
	for (size_t i = 0; i < sizeof(divisors) / sizeof(*divisors); i++) {
		uint64_t divisor = divisors[i].divisor, *quotient = group->filled;

		/* What divides all has no more trailing zeros than any of them. */
		if (bits & ((divisor & -divisor) - 1) ||
		    !divisors[i].divide(group->residual, part->rows, quotient))
			continue;
		group->filled = group->residual;
		group->residual = quotient;
		part->scale = divisor;
		break;
	}
}

static uint8_t *lay_out_unknowns(const struct part *part, uint8_t *map)
{
	memset(map, 0, (part->rows + 7) / 8);
	for (size_t row = 0; row < part->rows; row++)
		map[row / 8] |= (uint8_t)((part->value[row] == ACT_UNKNOWN) << row % 8);
	return map + (part->rows + 7) / 8;
}

WIDE
static void zigzag_all(uint64_t *value, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		value[row] = zigzag(value[row]);
}

/* The @byte-th bytes of all. */
WIDE
static void lay_out_plane(const uint64_t *restrict value, size_t rows, unsigned int byte,
			  uint8_t *restrict plane)
{
	for (size_t row = 0; row < rows; row++)
		plane[row] = (uint8_t)(value[row] >> 8 * byte);
}

/* Returns the bytes laid out. */
static size_t lay_out(struct part *part)
{
	struct group *group = part->group;
	uint8_t *plane = group->planes;

	/* From the minimum up they are unsigned. */
	if (part->base != BASE_MINIMUM)
		zigzag_all(group->residual, part->rows);
	part->width = (bits_of(bits_set_in_any(group->residual, part->rows)) + 7) / 8;
	if (part->has_unknown)
		plane = lay_out_unknowns(part, plane);
	for (unsigned int byte = 0; byte < part->width; byte++, plane += part->rows)
		lay_out_plane(group->residual, part->rows, byte, plane);
	return (size_t)(plane - group->planes);
}

/* Appends a frame; returns its descriptor bit, its length in @ret_length. */
static unsigned int append_frame(struct group *group, const uint8_t *raw, size_t length,
				 struct buffer *frames, size_t *ret_length)
{
	size_t bound = ZSTD_compressBound(length), got;

	*ret_length = 0;
	if (buffer_reserve(frames, bound) < 0)
		return 0;
	got = ZSTD_compress2(group->zstd, frames->data + frames->length, bound, raw, length);
	if (ZSTD_isError(got) || got >= length) {
		buffer_append(frames, raw, length);
		*ret_length = length;
		return DESCRIPTOR_STORED;
	}
	frames->length += got;
	*ret_length = got;
	return 0;
}

/* How a directory names the field that another one is told from. */
static uint64_t base_reference(const struct group *group, int field)
{
	return field == ACT_F_cpu_ns ? BASE_IS_CPU : group->number[field];
}

static void encode_numbers(struct part *part, enum act_field field, struct buffer *directory,
			   struct buffer *frames)
{
	unsigned int descriptor = COLUMN_NUMBERS, stored;
	size_t raw, length;

	choose_base(part);
	take_differences(part);
	scale_down(part);
	raw = lay_out(part);
	stored = append_frame(part->group, part->group->planes, raw, frames, &length);
	descriptor |= (unsigned int)part->base << DESCRIPTOR_BASE_SHIFT | stored;
	if (part->has_unknown)
		descriptor |= DESCRIPTOR_UNKNOWNS;
	buffer_append_varint(directory, part->group->number[field]);
	buffer_append_u8(directory, (uint8_t)descriptor);
	if (part->base == BASE_FIELD)
		buffer_append_varint(directory, base_reference(part->group, part->base_field));
	buffer_append_u8(directory, (uint8_t)part->width);
	buffer_append_varint(directory, part->scale);
	buffer_append_varint(directory, part->min);
	buffer_append_varint(directory, part->max - part->min);
	buffer_append_varint(directory, length);
}

/* The texts that the part has, in the order in which it has them. */
static uint32_t append_texts(struct part *part, struct buffer *raw)
{
	struct group *group = part->group;
	uint32_t count = 0;

	for (uint32_t i = 0; i < group->texts_count; i++)
		group->last_of_text[i] = -1;
	for (size_t row = 0; row < part->rows; row++) {
		uint64_t text = part->value[row];

		if (group->last_of_text[text] < 0) {
			size_t length = strlen(text_of(group, (uint32_t)text));

			buffer_append_varint(raw, length);
			buffer_append(raw, text_of(group, (uint32_t)text), length);
			group->last_of_text[text] = (int32_t)count++;
		}
		group->residual[row] = (uint64_t)group->last_of_text[text];
	}
	return count;
}

static void encode_text(struct part *part, enum act_field field, struct buffer *directory,
			struct buffer *frames)
{
	struct group *group = part->group;
	struct buffer raw = BUFFER_INIT;
	uint32_t count = append_texts(part, &raw);
	unsigned int width = count <= 256 ? 1 : 2, stored;
	size_t length;

	for (unsigned int byte = 0; byte < width; byte++) {
		for (size_t row = 0; row < part->rows; row++)
			group->planes[row] = (uint8_t)(group->residual[row] >> 8 * byte);
		buffer_append(&raw, group->planes, part->rows);
	}
	if (raw.failed)
		frames->failed = 1;
	stored = append_frame(group, raw.data, raw.length, frames, &length);
	buffer_append_varint(directory, part->group->number[field]);
	buffer_append_u8(directory, (uint8_t)(COLUMN_TEXT | stored));
	buffer_append_varint(directory, count);
	buffer_append_u8(directory, (uint8_t)width);
	buffer_append_varint(directory, raw.length);
	buffer_append_varint(directory, length);
	buffer_release(&raw);
}

static void encode_constant(const struct group *group, enum act_field field, uint64_t value,
			    struct buffer *directory)
{
	buffer_append_varint(directory, group->number[field]);
	if (value == ACT_UNKNOWN) {
		buffer_append_u8(directory, COLUMN_CONSTANT | DESCRIPTOR_UNKNOWNS);
		return;
	}
	buffer_append_u8(directory, COLUMN_CONSTANT);
	buffer_append_varint(directory, value);
}

static void encode_column(struct group *group, size_t from, size_t rows, enum act_field field,
			  struct buffer *directory, struct buffer *frames)
{
	struct part part = {
		.group = group, .from = from, .rows = rows,
		.value = group->column[field] + from, .base_field = likely_base(field),
	};
	bool constant = !varies(group, field);

	if (act_field_table[field].type == ACT_TYPE_TEXT) {
		encode_text(&part, field, directory, frames);
		return;
	}
	if (!constant)
		look_at(&part, &constant);
	if (constant) {
		encode_constant(group, field, value_at(group, field, from), directory);
		return;
	}
	if (part.base_field >= 0)
		part.other = values_of(&part, (enum act_field)part.base_field);
	encode_numbers(&part, field, directory, frames);
}

int group_encode(struct group *group, size_t from, size_t to, struct block_header *header,
		 struct buffer *buffer)
{
	struct buffer *directory = &group->directory, *frames = &group->frames;
	struct part whole = { .group = group, .from = from, .rows = to - from };
	size_t start;

	buffer_clear(directory);
	buffer_clear(frames);
	header->type = BLOCK_RECORDS;
	header->schema = group->schema.hash;
	header->count = (uint32_t)(to - from);
	header->exits = group_exits(group, from, to);
	group_span(group, from, to, &header->first_ns, &header->last_ns);
	find_same_comm(&whole);
	buffer_append_varint(directory, group->schema.columns);
	for (size_t i = 0; i < group->schema.columns; i++)
		encode_column(group, from, to - from, (enum act_field)group->schema.field[i],
			      directory, frames);
	if (group->texts.failed || directory->failed || frames->failed)
		return -ENOMEM;
	start = block_begin(buffer);
	buffer_append_u32(buffer, (uint32_t)directory->length);
	buffer_append(buffer, directory->data, directory->length);
	buffer_append(buffer, frames->data, frames->length);
	block_seal(header, start, buffer);
	return buffer->failed ? -ENOMEM : 0;
}
