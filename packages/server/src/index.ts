/** The public face of the server: what the command line and an embedding program need. */
export type { AllowedHost } from './allowed-hosts.ts'
export { baseUrl, isLoopback, listenerUrl, reachNote } from './app/addresses.ts'
export { type Config, ROLES, type Role, readConfig } from './app/config.ts'
export { createContext } from './app/context.ts'
export { type ListenerName, ListenFailed, type RunningServer, startServer } from './app/serve.ts'
export { openStorage, type Storage } from './app/storage.ts'
export { masterKeyFile, masterKeySource, openVault } from './app/vault.ts'
export type { Context } from './context.ts'
export { DataDirectoryError, makeDataDirectory } from './data-directory.ts'
export { EmbeddedPostgresError } from './embedded/errors.ts'
export { layout as embeddedLayout } from './embedded/files.ts'
export { ImportError } from './import/entry.ts'
export { FORMATS, type FormatName } from './import/formats.ts'
export {
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
  importFile,
} from './import/import-file.ts'
export { createBodies } from './keys/bodies.ts'
export { MasterKeyError } from './keys/master-key.ts'
export { CACHED_BY_PEERS, OWN_KEY_ROWS, type OwnKeyUse } from './keys/own-key-rows.ts'
export { rotateMasterKey } from './keys/rotate-master.ts'
export { type Rotated, revokeOwnKey, rotateOwnKeys } from './keys/rotation.ts'
export type { Vault } from './keys/vault.ts'
export { LIMITS, type LimitName } from './limits.ts'
export { createLog, type Log } from './observe/log.ts'
export { type ExplainedItem, explainItem, type IndexAdvice } from './operations/explain-item.ts'
export { createAddressGuard } from './outbound/address-guard.ts'
export { unreachableHost } from './outbound/address-rules.ts'
export { AUTHS, isIdentity, type Secrets, sealCredentials } from './outbound/credentials.ts'
export { parseSchedule } from './outbound/schedule.ts'
export { isAllowedEntry, isDefaultUrl } from './outbound/targets.ts'
export { type Step, type Tried, tryCallback } from './outbound/try-callback.ts'
export { readKeyFile } from './participants/key-file.ts'
export { KeyRefused, readPublicKey } from './participants/public-key.ts'
export { isSecretOf, newSecret } from './participants/secrets.ts'
export { checkSchema, type Database, migrate, openDatabase, pendingMigrations } from './store/database.ts'
export { isStatementTimeout, isUnavailable, safeDatabaseError } from './store/database-errors.ts'
export { deleteRecords } from './store/delete-records.ts'
export { ensureDrain } from './store/deliveries.ts'
export { answerContext, deliveryContext } from './store/delivery.ts'
export {
  changeDeliveries,
  DELIVERY_CHANGES,
  DELIVERY_STATES,
  type DeliveryChoice,
  type DeliveryState,
  findDelivery,
  type ListedAttempt,
  type ListedDelivery,
  listDeliveries,
} from './store/delivery-list.ts'
export { type DirectoryContent, directoryContent } from './store/demo-data.ts'
export { sampleIdentifiers } from './store/identifier-samples.ts'
export { inboxContext } from './store/inbox.ts'
export { findInInbox, type InboxEntry, type InboxFilter, listInbox } from './store/inbox-list.ts'
export { type Applied, type ApplyOptions, type ApplyProgress, applyIndexes } from './store/index-apply.ts'
export { type IndexPlan, isComplete, planIndexes, type WantedIndex } from './store/index-plan.ts'
export { withCurrentMasterKey } from './store/master-keys.ts'
export { listGoneNodes } from './store/nodes.ts'
export { becomeOnlyDemo } from './store/only-demo.ts'
export { listOwnKeys, type OwnKey } from './store/own-keys.ts'
export {
  type CallbackAuth,
  type CallbackSettings,
  findCallbackSettings,
  setCallbackSettings,
} from './store/participant-callbacks.ts'
export {
  addParticipantKey,
  type KeyUse,
  listLiveKeys,
  listParticipantKeys,
  type ParticipantKey,
  type PublicKey,
  revokeParticipantKey,
} from './store/participant-keys.ts'
export {
  addParticipant,
  addSecret,
  findClient,
  findParticipant,
  listParticipants,
  listWithoutSecret,
  type Participant,
  setParticipantQuotas,
  setParticipantStatus,
  setSealPolicy,
} from './store/participants.ts'
export { countRecords, hasRecords } from './store/record-counts.ts'
export { ensureRecordTables } from './store/record-tables.ts'
export { findByIdentifier, type Identifier } from './store/records.ts'
export { StoreRefusal } from './store/refusal.ts'
export {
  addRegistry,
  findRegistry,
  listRegistries,
  type Registry,
  readRegistries,
  registryAt,
  setTimeZone,
} from './store/registries.ts'
export {
  addAttribute,
  indexAttribute,
  isOfKind,
  recordTypeOf,
  removeAttribute,
} from './store/registry-attributes.ts'
export {
  ENCRYPTION_POLICIES,
  type EncryptionPolicy,
  type SealPolicy,
  SIGNATURE_POLICIES,
  type SignaturePolicy,
} from './store/seal-policy.ts'
export { readServerSettings, type ServerSettings } from './store/server-settings.ts'
export {
  type Traced,
  type TracedAcceptance,
  type TracedAttempt,
  type TracedCallback,
  type TracedDelivery,
  type TracedExchange,
  type TracedItem,
  trace,
} from './store/trace.ts'
export { inTransaction } from './store/transaction.ts'
