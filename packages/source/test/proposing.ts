/** The sources from which tests propose a file. */

import type { EngineName } from '../src/engine/engine-names.ts'
import type { SourceFile } from '../src/engine/mapped-records.ts'
import type { OfficePerson } from './office.ts'

/** A source file before anything is proposed; its address is in an environment variable. */
export const bareFile = (engine: EngineName, env: string): SourceFile => ({
  engine,
  url: { env },
  ca: null,
  pool: 2,
  statementTimeout: 60_000,
  candidates: 0,
  timeZone: 'UTC',
  mirror: null,
  records: new Map(),
})

/** A person with a row in most tables of the office. */
export const ASHA: OfficePerson = {
  person_no: 1,
  national_no: '8100000017',
  family_name: 'Okoro',
  given_name: 'Asha',
  gender: 2,
  born: '1990-12-31',
  mobile: '+255 700 000 017',
  birth: { no: 'B-1990-77', place: 'Moshi' },
  marriages: [{ no: 'M-2015-3', married: '20/06/2015' }],
}
