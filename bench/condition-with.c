/* SPDX-License-Identifier: GPL-2.0-or-later */
/* with:--threads=250,--calls=1000: options of the workload itself. */
#include "bench/condition-toggle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/why.h"

struct with {
	size_t words;
	char *word[];
};

static size_t count_pieces(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

static int parse_with(struct toggle *toggle, struct act_why *why)
{
	size_t most = count_pieces(toggle->text);
	struct with *with = calloc(1, sizeof(*with) + most * sizeof(with->word[0]));
	char *rest = toggle->text;

	if (!with)
		return because(why, -ENOMEM, "out of memory");
	toggle->data = with;
	for (char *piece; (piece = toggle_piece(&rest));) {
		if (piece[0] != '-' || !piece[1])
			return because(why, -EINVAL, "\"%s\" is no option of a workload; it is "
				       "given as in with:--threads=250,--step=0", piece);
		with->word[with->words++] = piece;
	}
	return with->words ? 0 : because(why, -EINVAL, "with needs options of the workload, as in "
					 "with:--threads=250");
}

char *const *condition_words(const struct condition *condition, size_t *ret_count)
{
	*ret_count = 0;
	for (size_t i = 0; i < condition->toggles; i++) {
		const struct with *with = condition->toggle[i].data;

		if (condition->toggle[i].kind != &toggle_with)
			continue;
		*ret_count = with->words;
		return with->word;
	}
	return NULL;
}

const struct toggle_kind toggle_with = {
	.name = "with", .form = "with:OPTION,...", .parse = parse_with,
};
