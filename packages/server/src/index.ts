/** The public face of the server: what the command line and an embedding program need. */
export { type Config, readConfig } from './app/config.ts'
export { createContext } from './app/context.ts'
export { type RunningServer, startServer } from './app/serve.ts'
export { openStorage, type Storage } from './app/storage.ts'
export type { Context } from './context.ts'
export { type ImportOptions, type ImportProgress, type ImportResult, importFile } from './import/import-file.ts'
export { LIMITS } from './limits.ts'
export { createLog, type Log } from './observe/log.ts'
export { newSecret } from './participants/secrets.ts'
export { type Database, migrate, openDatabase } from './store/database.ts'
export {
  addParticipant,
  addSecret,
  findParticipant,
  listParticipants,
  type Participant,
  setParticipantStatus,
} from './store/participants.ts'
export { StoreRefusal } from './store/refusal.ts'
export { addRegistry, findRegistry, listRegistries, type Registry } from './store/registries.ts'
