/** Start and stop of a server, with its listeners and its work in the background. */

export type { Demo, DemoReceiver, DemoReceiverState, DemoSimulation } from '@rollcall/admin/demo'
export { createContext } from './app/context.ts'
export { type ListenerName, ListenFailed, type RunningServer, startServer } from './app/serve.ts'
export type { Showcase } from './http/showcase.ts'
