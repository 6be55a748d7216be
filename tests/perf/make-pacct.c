/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	make-pacct LOG >FILE
 *
 * Writes the processes of a log as the kernel's accounting file (acct(5),
 * version 3), so that GNU sa and lastcomm can be timed on the same records.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/acct.h>

#include <actuary/actuary.h>

#define NSEC UINT64_C(1000000000)
#define AHZ_V3 100

/* Base-8 exponent in 3 bits, mantissa in 13. */
static comp_t pack(uint64_t value)
{
	unsigned int exponent = 0;

	while (value > 0x1fff) {
		value >>= 3;
		exponent++;
	}
	return exponent > 7 ? UINT16_MAX : (comp_t)(exponent << 13 | value);
}

static uint64_t known(uint64_t value)
{
	return value == ACT_UNKNOWN ? 0 : value;
}

static void convert(const struct act_record *record, struct acct_v3 *ret_acct)
{
	*ret_acct = (struct acct_v3){
		.ac_flag = (char)known(record->flags),
		.ac_version = 3,
		.ac_exitcode = (uint32_t)known(record->status),
		.ac_uid = (uint32_t)known(record->uid),
		.ac_gid = (uint32_t)known(record->gid),
		.ac_pid = (uint32_t)known(record->pid),
		.ac_ppid = (uint32_t)known(record->ppid),
		.ac_btime = (uint32_t)(known(record->start_ns) / NSEC),
		.ac_etime = (float)known(record->wall_ns) * AHZ_V3 / NSEC,
		.ac_utime = pack(known(record->user_ns) / (NSEC / AHZ_V3)),
		.ac_stime = pack(known(record->system_ns) / (NSEC / AHZ_V3)),
		.ac_mem = pack(known(record->vm_max_bytes) / 1024),
		.ac_minflt = pack(known(record->minflt)),
		.ac_majflt = pack(known(record->majflt)),
	};
	memcpy(ret_acct->ac_comm, record->comm_text, sizeof(ret_acct->ac_comm) - 1);
}

static int write_batch(const struct act_batch *batch)
{
	for (size_t row = 0; row < batch->rows; row++) {
		struct act_record record;
		struct acct_v3 acct;

		act_batch_record(batch, row, &record);
		if (!(record.kind & ACT_KIND_PROCESS))
			continue;
		convert(&record, &acct);
		if (fwrite(&acct, sizeof(acct), 1, stdout) != 1)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const enum act_field needed[] = {
		ACT_F_kind, ACT_F_comm, ACT_F_flags, ACT_F_status, ACT_F_uid, ACT_F_gid,
		ACT_F_pid, ACT_F_ppid, ACT_F_start_ns, ACT_F_wall_ns, ACT_F_user_ns,
		ACT_F_system_ns, ACT_F_vm_max_bytes, ACT_F_minflt, ACT_F_majflt,
	};
	struct act_field_set fields = { 0 };
	struct act_log_reader *reader;
	struct act_item item;
	struct act_why why;
	int ret;

	if (argc != 2)
		errx(2, "usage: make-pacct LOG >FILE");
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		act_field_set_add(&fields, needed[i]);
	ret = act_log_reader_open(argv[1], &reader, &why);
	if (ret < 0)
		errx(1, "%s", why.text);
	act_log_select(reader, &fields);
	while ((ret = act_log_next(reader, &item)) == 0)
		if (item.type == ACT_ITEM_BATCH && write_batch(&item.batch) < 0)
			err(1, "cannot write");
	act_log_reader_free(reader);
	if (ret < 0)
		errx(1, "%s: %s", argv[1], strerror(-ret));
	return fflush(stdout) ? 1 : 0;
}
