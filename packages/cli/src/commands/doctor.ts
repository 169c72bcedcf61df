/** `rollcall doctor`: checks settings and the database for weaknesses, and gives advice. */

import { examineDatabase } from '@rollcall/admin/database'
import { DATABASE_CHECKS } from '@rollcall/admin/doctor/database'
import { brokenResult, databaseFacts, type Finding, judgeFacts, okResult, readSettingFacts } from '@rollcall/admin/doctor/finding'
import { SETTING_CHECKS } from '@rollcall/admin/doctor/settings'
import type { Config } from '@rollcall/settings/config'
import { listNodeSettings } from '@rollcall/settings/settings'
import { describeDatabase, filesCheckedByDoctor, openStorage } from '@rollcall/settings/storage'
import type { Command } from 'commander'
import { hasUrlOrEmbeddedDatabase, readConfiguration } from '../environment.ts'
import { EXIT_CODES, failureText } from '../failure.ts'
import { judgeBackupsAndCertificate } from '../machine/machine-checks.ts'
import { type OutputOptions, printResult, tableText, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('doctor'))
    .description('list every weak setting of this environment and its database; changes nothing')
    .addHelpText(
      'after',
      `
States: ok; weak: it works but could be safer; broken: it does not work, or it discloses secrets or data.
Exit codes: 0 nothing is broken, 1 something is, or there is no database.

Example: rollcall doctor --json`,
    )
    .action(runDoctor)
}

async function runDoctor(options: OutputOptions): Promise<void> {
  listenForStop()
  const rows = await listFindings()
  const examined = rows.find(({ check, state }) => check === CONFIGURATION_CHECK && state === 'ok')
  // The row that says what was examined is the first line of the output, and not in the table.
  const others = rows.filter((row) => row !== examined).map((row) => ({ ...row }))
  const found = tableText(['check', 'state', 'advice'], others, '')
  printResult(options, rows, examined === undefined ? found : `Examined: ${examined.advice}\n\n${found}`)
  if (rows.some(({ state }) => state === 'broken')) process.exitCode = EXIT_CODES.failed
}

/** The name of the check of the settings. When it passes, its `advice` says what the doctor examined. */
const CONFIGURATION_CHECK = 'configuration'

async function listFindings(): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfiguration()
  } catch (error) {
    return [await makeFindingFromError(CONFIGURATION_CHECK, error)]
  }
  const settings = judgeFacts(SETTING_CHECKS, await readSettingFacts(config, filesCheckedByDoctor(config)))
  return [
    { check: CONFIGURATION_CHECK, ...okResult(examinedConfigurationText(config)), command: null },
    ...settings,
    ...(await judgeBackupsAndCertificate(config.publicUrl)),
    ...(await databaseFindings(config)),
  ]
}

/** Names the examined database, and the settings that have a value from the environment, a file or a program. */
function examinedConfigurationText(config: Config): string {
  const names = listNodeSettings(config).flatMap(({ variable, source }) => (source === 'default' ? [] : [variable]))
  const settings = names.length === 0 ? 'every setting at its default' : `these settings: ${names.join(', ')}`
  return `${describeDatabase(config)}, with ${settings}`
}

async function databaseFindings(config: Config): Promise<Finding[]> {
  if (!(await hasUrlOrEmbeddedDatabase(config))) {
    const advice = `there is none in ${config.dataDirectory}: set DATABASE_URL or ROLLCALL_DATA to those of the service, or make one with rollcall serve, demo or migrate`
    return [{ check: 'database', ...brokenResult(advice), command: null }]
  }
  try {
    const storage = await openStorage(config)
    try {
      return judgeFacts(DATABASE_CHECKS, databaseFacts(config, await examineDatabase(storage, {})))
    } finally {
      await storage.close()
    }
  } catch (error) {
    return [await makeFindingFromError('database', error)]
  }
}

const makeFindingFromError = async (check: string, error: unknown): Promise<Finding> => ({
  check,
  state: 'broken',
  advice: await failureText(error),
  command: null,
})
