/**
 * V8 settings of the process; imported before anything allocates much. While the young generation is still small, most
 * of what is in flight survives a scavenge, V8 concludes that requests are long-lived and allocates them in the old
 * generation from then on, where each dead one keeps its successors alive: scavenges then free a third and take ten
 * times as long (measured with --trace-gc at 64 connections).
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');

/**
 * Bytes outside of the heap count towards the limit that has V8 mark all of it, and when marking takes much of the time V8
 * lowers that limit: a few dozen images of a megabyte then have a heap of 28 MB marked, over and over. Three times what
 * has survived is a limit that does not move (docs/decisions/0016-v8-heap-growth.md).
 */
setFlagsFromString('--heap-growing-percent=200');
