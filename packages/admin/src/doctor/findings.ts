/** The findings of doctor on the node that answers. */
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import { examineDatabase } from '../database.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, NO_INPUT, orNull, text } from '../members.ts'
import { DATABASE_CHECKS } from './database.ts'
import { databaseFacts, type JudgedConfig, type JudgedFilePaths, judgeFacts, readSettingFacts } from './finding.ts'
import { SETTING_CHECKS } from './settings.ts'

export interface HasJudgedConfig extends HasDatabase {
  /** The settings that doctor judges, and the paths of the data directory and its files, whose permission bits doctor judges. */
  readonly judged: { readonly config: JudgedConfig; readonly files: JudgedFilePaths }
}

/** Lists the findings of all checks of doctor, those of the node's settings first. It changes nothing. */
export const listFindings = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        check: text('Name of the check.'),
        state: oneOf(['ok', 'weak', 'broken'], {
          description: 'weak: it works but could be safer; broken: it does not work, or it discloses secrets or data.',
        }),
        advice: text('What was found and, unless it is well, what to do.'),
        command: orNull(text('The command that mends it, with <words> for names; null: it is well, or no single command does.')),
      }),
    ),
  },
  async ({ db, judged: { config, files } }: HasJudgedConfig) => {
    return [
      ...judgeFacts(SETTING_CHECKS, await readSettingFacts(config, files)),
      ...judgeFacts(DATABASE_CHECKS, databaseFacts(config, await examineDatabase({ db }, {}))),
    ]
  },
)
