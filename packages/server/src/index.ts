/**
 * The public face of the server: configuration, storage, and what the demo and the benchmarks are made with. Start and
 * stop are `@rollcall/server/serve`, so that a command that only asks the database does not load the listeners. What an operator does stands in `admin/`, each file an entry of its own (`@rollcall/server/admin/participants`).
 */

export { makeDataDirectory } from '@rollcall/base/shared/data-directory'
export { isLoopback } from '@rollcall/base/shared/loopback'
export { nearestHint } from '@rollcall/base/shared/nearest'
export { LIMITS, type LimitName } from '@rollcall/core/limits'
export type { Accounts } from '@rollcall/core/model/account'
export type { GrantTerms } from '@rollcall/core/model/grant'
export type { MessagePolicy, Participant } from '@rollcall/core/model/participant'
export type { Registry } from '@rollcall/core/model/registry'
export { checkSchema, type Database, migrate, openDatabase } from '@rollcall/database/database'
export { isUnavailable, safeDatabaseError } from '@rollcall/database/database-errors'
export { layout as embeddedLayout } from '@rollcall/database/embedded/files'
export { importFile } from '@rollcall/import/import-file'
export type { Vault } from '@rollcall/keys/vault'
export { createLog, type Log } from '@rollcall/observe/log'
export { isSecretOf, newSecret } from '@rollcall/participants/directory/secrets'
export { addSecret } from '@rollcall/participants/store/client-secrets'
export { becomeOnlyDemo, directoryContent } from '@rollcall/participants/store/demo-data'
export { findCallbackSettings, setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
export { addParticipantKey } from '@rollcall/participants/store/participant-keys'
export {
  addParticipant,
  findClient,
  findParticipant,
  setMessagePolicy,
  setParticipantQuotas,
  setSubscriptionSettings,
} from '@rollcall/participants/store/participants'
export { ownRecords } from '@rollcall/records/records/own-records'
export { countRecords, hasRecords, sampleIdentifiers } from '@rollcall/records/records/record-counts'
export { ensureRecordTables } from '@rollcall/records/records/record-tables'
export { applyIndexes } from '@rollcall/records/registries/index-apply'
export {
  addRegistry,
  findRegistry,
  listRegistries,
  registryAt,
} from '@rollcall/records/registries/registries'
export { baseUrl, listenerUrl, reachNote } from '@rollcall/settings/addresses'
export { type Config, ROLES, type Role, readConfig } from '@rollcall/settings/config'
export { settingsOf } from '@rollcall/settings/settings'
export {
  databaseName,
  demoFile,
  judgedFiles,
  masterKeyFile,
  masterKeySource,
  openAccounts,
  openStorage,
  openVault,
  type Storage,
} from '@rollcall/settings/storage'
