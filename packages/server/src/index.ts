/**
 * The public face of the server: configuration, storage, start and stop, and what the demo and the benchmarks are made
 * with. What an operator does stands in `admin/`, each file an entry of its own (`@rollcall/server/admin/participants`).
 */
export { baseUrl, isLoopback, listenerUrl, reachNote } from './app/addresses.ts'
export { type Config, ROLES, type Role, readConfig } from './app/config.ts'
export { createContext } from './app/context.ts'
export { type ListenerName, ListenFailed, type RunningServer, startServer } from './app/serve.ts'
export { openStorage } from './app/storage.ts'
export { masterKeyFile, masterKeySource, openVault } from './app/vault.ts'
export { makeDataDirectory } from './data-directory.ts'
export { layout as embeddedLayout } from './embedded/files.ts'
export { importFile } from './import/import-file.ts'
export type { Vault } from './keys/vault.ts'
export { LIMITS, type LimitName } from './limits.ts'
export { createLog, type Log } from './observe/log.ts'
export { readPublicKey } from './participants/public-key.ts'
export { isSecretOf, newSecret } from './participants/secrets.ts'
export { checkSchema, type Database, migrate, openDatabase } from './store/database.ts'
export { isUnavailable, safeDatabaseError } from './store/database-errors.ts'
export { directoryContent } from './store/demo-data.ts'
export { sampleIdentifiers } from './store/identifier-samples.ts'
export { applyIndexes } from './store/index-apply.ts'
export { becomeOnlyDemo } from './store/only-demo.ts'
export { findCallbackSettings, setCallbackSettings } from './store/participant-callbacks.ts'
export { addParticipantKey } from './store/participant-keys.ts'
export {
  addParticipant,
  addSecret,
  findClient,
  findParticipant,
  type Participant,
  setParticipantQuotas,
  setSealPolicy,
} from './store/participants.ts'
export { countRecords, hasRecords } from './store/record-counts.ts'
export { ensureRecordTables } from './store/record-tables.ts'
export { findByIdentifier } from './store/records.ts'
export { addRegistry, findRegistry, listRegistries, type Registry, registryAt } from './store/registries.ts'
export type { SealPolicy } from './store/seal-policy.ts'
