export type { Fault, RefusalKind } from './faults/fault.ts';
export { FaultError } from './faults/fault.ts';
export type { FaultMatch, FaultRule } from './faults/rules.ts';
export type { ReceivedRequest } from './received.ts';
export type { Simulator, SimulatorOptions } from './simulator.ts';
export { simulatorSummary, startSimulator } from './simulator.ts';
