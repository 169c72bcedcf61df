/** `rollcall doctor`: every weak setting, and what to do about it. */
import { type Config, openStorage } from '@rollcall/server'
import { examineDatabase } from '@rollcall/server/admin/database'
import type { Command } from 'commander'
import { DATABASE_CHECKS } from '../doctor/database-checks.ts'
import { type Finding, findings, ok, settingFacts } from '../doctor/finding.ts'
import { SETTING_CHECKS } from '../doctor/setting-checks.ts'
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
    return [{ check: 'configuration', state: 'broken', advice: await failureText(error) }]
  }
  const settings = findings(SETTING_CHECKS, await settingFacts(config))
  return [{ check: 'configuration', ...ok('readable') }, ...settings, ...(await databaseFindings(config))]
}

async function databaseFindings(config: Config): Promise<Finding[]> {
  if (!(await hasDatabase(config))) {
    const advice = `none in ${config.dataDirectory} yet; rollcall serve, demo or migrate makes one`
    return [{ check: 'database', ...ok(advice) }]
  }
  try {
    const storage = await openStorage(config)
    try {
      const embedded = config.databaseUrl === undefined
      return findings(DATABASE_CHECKS, { embedded, ...(await examineDatabase(storage, {})) })
    } finally {
      await storage.close()
    }
  } catch (error) {
    return [{ check: 'database', state: 'broken', advice: await failureText(error) }]
  }
}
