/** `rollcall doctor`: every weak setting, and what to do about it. */
import { type Config, judgedFiles, openStorage } from '@rollcall/server'
import { examineDatabase } from '@rollcall/server/admin/database'
import { DATABASE_CHECKS } from '@rollcall/server/admin/doctor/database'
import { type Finding, findings, ok, settingFacts } from '@rollcall/server/admin/doctor/finding'
import { SETTING_CHECKS } from '@rollcall/server/admin/doctor/settings'
import type { Command } from 'commander'
import { configuration, hasDatabase } from '../environment.ts'
import { EXIT, failureText } from '../failure.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('doctor'))
    .description('list every weak setting of this environment and its database; changes nothing')
    .addHelpText(
      'after',
      `
States: ok; weak: it works but could be safer; broken: it does not work, or it discloses secrets or data.
Exit codes: 0 nothing is broken, 1 something is.

Example: rollcall doctor --json`,
    )
    .action(runDoctor)
}

async function runDoctor(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await examine()
  const columns = ['check', 'state', 'advice']
  print(
    options,
    rows,
    table(
      columns,
      rows.map((row) => ({ ...row })),
      '',
    ),
  )
  if (rows.some(({ state }) => state === 'broken')) process.exitCode = EXIT.failed
}

async function examine(): Promise<Finding[]> {
  let config: Config
  try {
    config = configuration()
  } catch (error) {
    return [await failed('configuration', error)]
  }
  const settings = findings(SETTING_CHECKS, await settingFacts(config, judgedFiles(config)))
  return [
    { check: 'configuration', ...ok('readable'), command: null },
    ...settings,
    ...(await databaseFindings(config)),
  ]
}

async function databaseFindings(config: Config): Promise<Finding[]> {
  if (!(await hasDatabase(config))) {
    const advice = `none in ${config.dataDirectory} yet; rollcall serve, demo or migrate makes one`
    return [{ check: 'database', ...ok(advice), command: null }]
  }
  try {
    const storage = await openStorage(config)
    try {
      const embedded = config.databaseUrl === undefined
      const facts = await examineDatabase(storage, {})
      return findings(DATABASE_CHECKS, { embedded, twoPerson: config.twoPerson, ...facts })
    } finally {
      await storage.close()
    }
  } catch (error) {
    return [await failed('database', error)]
  }
}

const failed = async (check: string, error: unknown): Promise<Finding> => ({
  ...{ check, state: 'broken', advice: await failureText(error), command: null },
})
