/** Gathering what the checks judge. */
import { stat } from 'node:fs/promises'
import {
  type AllowedHost,
  type Config,
  type Database,
  directoryContent,
  isLoopback,
  listGoneNodes,
  listLiveKeys,
  listParticipants,
  listWithoutSecret,
  masterKeyFile,
  type Participant,
  type ParticipantKey,
  pendingMigrations,
  planIndexes,
  readRegistries,
  readServerSettings,
} from '@rollcall/server'
import { demoFilePath } from '../demo/demo-file.ts'
import { embeddedFiles } from '../environment.ts'
import type { DatabaseFacts, SettingFacts } from './finding.ts'

export async function settingFacts(config: Config): Promise<SettingFacts> {
  const [data_directory = null, password = null, demo_file = null, master_key = null] = await Promise.all(
    [
      config.dataDirectory,
      embeddedFiles(config).passwordFile,
      demoFilePath(config),
      masterKeyFile(config),
    ].map(modeOf),
  )
  return { config, files: { data_directory, password, demo_file, master_key } }
}

async function modeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null)
  return found === null ? null : found.mode & 0o7777
}

/** Changes nothing, so the directory is read only where its tables are. */
export async function databaseFacts(db: Database, embedded: boolean): Promise<DatabaseFacts> {
  const settings = await readServerSettings(db)
  const pending = await pendingMigrations(db)
  const content = await directoryContent(db)
  const unreadable = pending.length > 0 || content.demo.length + content.real.length === 0
  const [participants, withoutSecret, keys] = unreadable
    ? [[], [], []]
    : await Promise.all([listParticipants(db), listWithoutSecret(db), listLiveKeys(db)])
  const { registries, unreadable: unreadableRegistries } = unreadable
    ? { registries: [], unreadable: [] }
    : await readRegistries(db)
  const indexes = await Promise.all(registries.map((registry) => planIndexes(db, registry)))
  const disabled = participants.filter(({ status }) => status === 'disabled')
  const active = participants.filter(({ status }) => status === 'active')
  return {
    embedded,
    settings,
    content,
    pending,
    disabled,
    unreadable: unreadableRegistries,
    goneNodes: pending.length > 0 ? [] : await listGoneNodes(db),
    withoutSecret,
    unsigned: active.filter(({ signature_policy }) => signature_policy !== 'required'),
    withoutSignatureKey: active.filter(
      (participant) => participant.signature_policy === 'required' && !hasSignatureKey(participant, keys),
    ),
    indexes: indexes.flat(),
    plainHttp: active
      .map(({ sender_id, outgoing }) => ({ sender_id, hosts: plainHosts(outgoing) }))
      .filter(({ hosts }) => hosts.length > 0),
  }
}

/** A key set may hold one, which is not looked into here. */
function hasSignatureKey(
  { id, jwks_uri, signature_profile }: Participant,
  keys: readonly ParticipantKey[],
): boolean {
  const algorithms: readonly string[] = signature_profile.algorithms
  const now = Date.now()
  return (
    jwks_uri !== null ||
    keys.some(
      ({ participant, use, algorithm, valid_from }) =>
        participant === id && use === 'sig' && algorithms.includes(algorithm) && valid_from.getTime() <= now,
    )
  )
}

const plainHosts = (rows: readonly AllowedHost[]): string[] =>
  rows.filter(({ host, plainHttp }) => plainHttp === true && !isLoopback(host)).map(({ host }) => host)
