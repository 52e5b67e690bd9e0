export type { Fault } from './faults/fault.ts';
export { FaultError } from './faults/fault.ts';
export type { FaultRule } from './faults/rules.ts';
export type { ReceivedRequest } from './received.ts';
export type { Simulator, SimulatorOptions } from './simulator.ts';
export { simulatorSummary, startSimulator } from './simulator.ts';
