/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_FIELDS_H
#define ACTUARY_FIELDS_H

/*
 * THE field table: everything that is known of a task, named once.
 *
 * The log's columns, --columns, JSON keys and the manual's field list all come
 * from here.  To add a field, add its line, then fill it where it is read
 * (lib/source/); nothing else has to know.
 *
 *   F(name, type, since, sources, fold, help)
 *
 * name     the column, the JSON key and the member of struct act_record.  A
 *          suffix tells the unit: _ns nanoseconds, _bytes bytes.
 * type     how it is printed and whether it can be summed, see act_type.
 * since    first version of struct taskstats that has it; 0: not from there.
 * sources  who gives it, see act_from.
 * fold     how the threads' values make the process's value, see act_fold_rule.
 *
 * The order is the order in the record; a log carries its own schema by name,
 * so lines may be moved and added, but a released name never changes meaning.
 */
#define ACT_DELAY_TABLE(F, name, v, switched, what) \
	F(name##_delay_count, NUMBER, v, TASKSTATS | switched, SUM, \
	  "times waited for " what) \
	F(name##_delay_ns, DURATION, v, TASKSTATS | switched, SUM, \
	  "time waited for " what) \
	F(name##_delay_max_ns, DURATION, 15, TASKSTATS | switched, MAX, \
	  "longest wait for " what) \
	F(name##_delay_min_ns, DURATION, 15, TASKSTATS | switched, MIN, \
	  "shortest wait for " what) \
	F(name##_delay_max_at_ns, TIME, 17, TASKSTATS | switched, AT_MAX, \
	  "when the longest wait for " what " ended")

#define ACT_FIELD_TABLE(F) \
	F(kind, KIND, 0, RECORDER, NONE, \
	  "what the record stands for: a task, a process, or both at once") \
	F(pid, ID, 12, TASKSTATS, LEADER, "process id (thread group id)") \
	F(tid, ID, 1, TASKSTATS, LEADER, "task id; of a process, its leader's") \
	F(ppid, ID, 1, TASKSTATS, LEADER, "parent's process id; 0 if it was gone") \
	F(uid, ID, 1, TASKSTATS, LEADER, "real user id") \
	F(gid, ID, 1, TASKSTATS, LEADER, "real group id") \
	F(comm, TEXT, 1, TASKSTATS, LEADER, "command name at exit, 15 bytes") \
	F(start_ns, TIME, 0, DERIVED, NONE, "start, wall clock: end less wall time") \
	F(end_ns, TIME, 0, RECORDER, LAST, \
	  "end, wall clock, as received: late by a drain interval at most") \
	F(wall_ns, DURATION, 1, TASKSTATS, WALL, "time from start to end") \
	F(cpu_ns, DURATION, 0, DERIVED, NONE, "CPU time: user and system") \
	F(user_ns, DURATION, 1, TASKSTATS | GROUP, SUM, \
	  "CPU time in user mode; in ticks on most kernels") \
	F(system_ns, DURATION, 1, TASKSTATS | GROUP, SUM, \
	  "CPU time in the kernel; in ticks on most kernels") \
	F(status, FLAGS, 1, TASKSTATS, LEADER, "wait status, as wait(2) gives it") \
	F(code, ID, 0, DERIVED, NONE, "exit code, if it ended by itself") \
	F(signal, ID, 0, DERIVED, NONE, "signal that killed it; 0 if none") \
	F(core, BOOL, 0, DERIVED, NONE, "whether a core was dumped") \
	F(flags, FLAGS, 1, TASKSTATS, OR, \
	  "accounting flags: 1 forked only, 2 used privilege, 8 core, 16 killed, 32 last of its group") \
	F(cpu, ID, 0, RECORDER, LAST, "CPU on which it exited") \
	F(threads, NUMBER, 0, RECORDER, SUM, "tasks folded into this record") \
	F(exits, NUMBER, 0, RECORDER, NONE, \
	  "exits that this record alone accounts for: its sum over a log is what was recorded") \
	F(partial, BOOL, 0, RECORDER, NONE, "a process some of whose tasks were not seen") \
	F(nice, SIGNED, 1, TASKSTATS, LEADER, "nice value, -20 to 19") \
	F(sched, ID, 1, TASKSTATS, LEADER, "scheduling policy, as sched(7) numbers them") \
	F(minflt, NUMBER, 1, TASKSTATS, SUM, "minor page faults") \
	F(majflt, NUMBER, 1, TASKSTATS, SUM, "major page faults") \
	F(rss_max_bytes, SIZE, 1, TASKSTATS, MAX, "peak resident memory") \
	F(vm_max_bytes, SIZE, 1, TASKSTATS, MAX, "peak address space") \
	F(rss_integral, INTEGRAL, 1, TASKSTATS, SUM, \
	  "resident memory over CPU time, MB times microseconds") \
	F(vm_integral, INTEGRAL, 1, TASKSTATS, SUM, \
	  "address space over CPU time, MB times microseconds") \
	F(rchar_bytes, SIZE, 1, TASKSTATS, SUM, \
	  "bytes read by system calls, rounded down to 1024") \
	F(wchar_bytes, SIZE, 1, TASKSTATS, SUM, \
	  "bytes written by system calls, rounded down to 1024") \
	F(syscr, NUMBER, 1, TASKSTATS, SUM, \
	  "read system calls, rounded down to 1024; fewer is unknown") \
	F(syscw, NUMBER, 1, TASKSTATS, SUM, \
	  "write system calls, rounded down to 1024; fewer is unknown") \
	F(read_bytes, SIZE, 1, TASKSTATS, SUM, "bytes read from storage, rounded down to 1024") \
	F(write_bytes, SIZE, 1, TASKSTATS, SUM, "bytes written to storage, rounded down to 1024") \
	F(cancelled_bytes, SIZE, 1, TASKSTATS, SUM, \
	  "written bytes that were truncated before they reached storage") \
	F(nvcsw, NUMBER, 1, TASKSTATS | GROUP, SUM, "voluntary context switches") \
	F(nivcsw, NUMBER, 1, TASKSTATS | GROUP, SUM, "involuntary context switches") \
	F(run_ns, DURATION, 1, TASKSTATS | GROUP, SUM, \
	  "the scheduler's CPU time; exact, but stale at exit: see actuary-log(5)") \
	F(run_real_ns, DURATION, 1, TASKSTATS | GROUP, SUM, \
	  "CPU time as delay accounting has it") \
	F(run_scaled_ns, DURATION, 1, TASKSTATS | GROUP, SUM, \
	  "the same scaled by CPU frequency, where the machine can") \
	F(user_scaled_ns, DURATION, 1, TASKSTATS, SUM, "user_ns scaled by CPU frequency") \
	F(system_scaled_ns, DURATION, 1, TASKSTATS, SUM, "system_ns scaled by CPU frequency") \
	ACT_DELAY_TABLE(F, cpu, 1, GROUP, "a CPU while runnable") \
	ACT_DELAY_TABLE(F, blkio, 1, GROUP | SWITCH, "block I/O") \
	ACT_DELAY_TABLE(F, swapin, 1, GROUP | SWITCH, "swapping in") \
	ACT_DELAY_TABLE(F, freepages, 7, GROUP | SWITCH, "memory reclaim") \
	ACT_DELAY_TABLE(F, thrashing, 9, GROUP | SWITCH, "thrashing pages") \
	ACT_DELAY_TABLE(F, compact, 11, GROUP | SWITCH, "memory compaction") \
	ACT_DELAY_TABLE(F, wpcopy, 13, GROUP | SWITCH, "write-protect copies") \
	ACT_DELAY_TABLE(F, irq, 14, GROUP | SWITCH, "interrupts") \
	F(btime_ns, TIME, 1, TASKSTATS, LEADER, \
	  "start as the kernel tells it, in whole seconds") \
	F(tgetime_ns, DURATION, 12, TASKSTATS, LAST, \
	  "time since the process began, at this task's exit") \
	F(exe_dev, ID, 12, TASKSTATS, LEADER, "device of the executable, as the kernel encodes it") \
	F(exe_inode, ID, 12, TASKSTATS, LEADER, "inode of the executable") \
	F(version, ID, 1, TASKSTATS, LAST, "version of struct taskstats it came in")

/* One enumerator a field: ACT_F_pid, ACT_F_wall_ns, ... */
enum act_field {
#define ACT_FIELD_ENUM(name, ...) ACT_F_##name,
	ACT_FIELD_TABLE(ACT_FIELD_ENUM)
#undef ACT_FIELD_ENUM
	ACT_FIELDS
};

#endif
