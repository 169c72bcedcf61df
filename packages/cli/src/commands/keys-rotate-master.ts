/** `rollcall keys rotate-master`: replaces the master key. */
import { rotateMasterKey } from '@rollcall/admin/operators/own-keys'
import type { Config } from '@rollcall/settings/config'
import { masterKeyPath, masterKeySource } from '@rollcall/settings/storage'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .addHelpText(
      'after',
      `
The new key is ROLLCALL_NEW_MASTER_KEY. With the embedded database and without this variable, a new key is
written to the file. After an interruption, run the command again. Servers that were started with both variables
continue without interruption. Restart all others at once: without the new key they cannot store or read messages.

Example: ROLLCALL_NEW_MASTER_KEY="$(cat new-master-key)" rollcall keys rotate-master`,
    )
    .action(runRotateMaster)
}

async function runRotateMaster(options: OutputOptions): Promise<void> {
  listenForStop()
  const { config, ...done } = await withDatabase(async (deps) => ({
    config: deps.config,
    ...(await rotateMasterKey({ ...deps, masterKey: masterKeySource(deps.config) }, {})),
  }))
  const what =
    done.resealed === 0
      ? 'the new master key is in use already'
      : `${done.resealed} values are encrypted with the new master key, version ${done.version}`
  printResult(options, done, `${what}\n${afterRotationText(config)}`)
}

function afterRotationText(config: Config): string {
  if (config.newMasterKey === undefined) {
    const path = masterKeyPath(config)
    return `The new master key is in ${path}: back it up.\nThe earlier one is in ${path}.before-<time>: delete it with the last backup from before.`
  }
  const file = config.masterKey === undefined ? `, and remove ${masterKeyPath(config)}` : ''
  return `Now set ROLLCALL_MASTER_KEY to the new one everywhere${file}. Backups from before need the old one.`
}
