/** `rollcall keys`: our own keys, and the master key that encrypts them. */

import {
  CACHED_BY_PEERS,
  listOwnKeys,
  OWN_KEY_USES,
  revokeOwnKey,
  rotateMasterKey,
  rotateOwnKeys,
} from '@rollcall/admin/operators/own-keys'
import type { Config } from '@rollcall/settings/config'
import { masterKeyFile, masterKeySource } from '@rollcall/settings/storage'
import { type Command, Option } from 'commander'
import { ask, withDatabase } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { addProbeCommand } from './keys-probe.ts'

export function addCommand(program: Command): void {
  const keys = program.command('keys').description('manage our own keys (docs/keys.md)')
  withJson(keys.command('list'))
    .description('list our own keys: sig signs messages, enc decrypts messages, token signs access tokens')
    .addHelpText(
      'after',
      `
States: next, published and not yet in use; active; retired, still good until the time shown; revoked.

Example: rollcall keys list --json`,
    )
    .action(runList)
  withJson(keys.command('rotate'))
    .description('start to use the next keys; running servers use them within a second and refuse no message')
    .addOption(new Option('--use <use>', 'only keys of this use (default: all)').choices(OWN_KEY_USES))
    .addHelpText('after', '\nExample: rollcall keys rotate --use sig')
    .action(runRotate)
  withJson(keys.command('revoke'))
    .description('revoke a key: within a second no server accepts it, and its private half is erased')
    .argument('<kid>', 'kid of the key')
    .addHelpText(
      'after',
      `
The next key replaces an active one. This cannot be undone. Write -- before a kid that begins with -.

Example: rollcall keys revoke NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs`,
    )
    .action(runRevoke)
  withJson(keys.command('rotate-master'))
    .description('replace the master key, and encrypt all values again with the new one')
    .addHelpText(
      'after',
      `
The new key is ROLLCALL_NEW_MASTER_KEY. With the embedded database and without this variable, a new key is
written to the file. After an interruption, run the command again. Servers that were started with both variables
continue without interruption.

Example: ROLLCALL_NEW_MASTER_KEY="$(cat new-master-key)" rollcall keys rotate-master`,
    )
    .action(runRotateMaster)
  addProbeCommand(keys)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listOwnKeys, {})
  const columns = ['kid', 'use', 'algorithm', 'state', 'since', 'good_until']
  const lines = rows.map(({ kid, use, algorithm, state, good_until, ...times }) => {
    const since = times.revoked_at ?? times.retired_at ?? times.activated_at ?? times.created_at
    return { kid, use, algorithm, state, since, good_until }
  })
  print(options, rows, table(columns, lines, 'no keys yet; the first start of a server creates them'))
}

interface RotateOptions extends OutputOptions {
  readonly use?: (typeof OWN_KEY_USES)[number]
}

async function runRotate({ use, ...options }: RotateOptions): Promise<void> {
  stopRequest()
  const rotated = await ask(rotateOwnKeys, { use })
  const columns = ['use', 'algorithm', 'active', 'retired']
  const rows = rotated.map((row) => ({ ...row }))
  print(options, rotated, [table(columns, rows, ''), ...hints(rotated)].join('\n'))
}

function hints(rotated: Awaited<ReturnType<typeof rotateOwnKeys>>): string[] {
  const known = Math.min(...rotated.map(({ published_for }) => published_for))
  if (known >= CACHED_BY_PEERS) return []
  return [
    `These keys were published ${known} s ago. Peers may use an older key set for ${CACHED_BY_PEERS} s,`,
    'and peers that do not fetch it again for an unknown key refuse our messages until then.',
  ]
}

async function runRevoke(kid: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const revoked = await ask(revokeOwnKey, { kid })
  print(options, revoked, `${revoked.kid} is revoked`)
}

async function runRotateMaster(options: OutputOptions): Promise<void> {
  stopRequest()
  const { config, ...done } = await withDatabase(async ({ db, config }) => ({
    config,
    ...(await rotateMasterKey({ db, masterKey: masterKeySource(config) }, {})),
  }))
  const what =
    done.resealed === 0
      ? 'the new master key is in use already'
      : `${done.resealed} values are encrypted with the new master key, version ${done.version}`
  print(options, done, `${what}\n${whatNow(config)}`)
}

function whatNow(config: Config): string {
  if (config.newMasterKey === undefined) return `The new master key is in ${masterKeyFile(config)}: back it up.`
  const file = config.masterKey === undefined ? `, and remove ${masterKeyFile(config)}` : ''
  return `Now set ROLLCALL_MASTER_KEY to the new one everywhere${file}. Backups from before need the old one.`
}
