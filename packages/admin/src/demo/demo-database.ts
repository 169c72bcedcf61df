/** Keeps databases of demos and of production apart: the commands of each refuse the database of the other. */
import type { Database } from '@rollcall/database/database'
import { readDirectoryContent, takeDemoLock } from '@rollcall/participants/store/demo-data'
import { AdminRefusal } from '../admin-function.ts'

/** The most registries and participants that a refusal names. */
const MOST_NAMED = 3

const OTHER_DATABASE = 'set ROLLCALL_DATA or DATABASE_URL to another database'

/** Refuses the database of a demo. @throws AdminRefusal */
export async function refuseDemoData(db: Database): Promise<void> {
  const { demo } = await readDirectoryContent(db)
  if (demo.length === 0) return
  throw new AdminRefusal(
    `this database is a demo's (it has ${named(demo)}), whose secret lies in a file; ` +
      `run rollcall demo, or ${OTHER_DATABASE}`,
    { reason: 'conflict' },
  )
}

/** Refuses to add data of an operator to the synthetic people of a demo. @throws AdminRefusal */
export async function refuseToAddToDemo(db: Database): Promise<void> {
  const { demo } = await readDirectoryContent(db)
  if (demo.length === 0) return
  throw new AdminRefusal(
    `this database is a demo's (it has ${named(demo)}), and nothing of your own belongs into it; ` +
      `${OTHER_DATABASE}, such as export ROLLCALL_DATA=.rollcall/real, and run rollcall migrate; ` +
      'to change the demo itself, set ROLLCALL_DEMO_WRITES=1',
    { reason: 'conflict' },
  )
}

/** Refuses a database with real registries or participants. @throws AdminRefusal */
export async function refuseRealData(db: Database): Promise<void> {
  const { real } = await readDirectoryContent(db)
  if (real.length === 0) return
  throw new AdminRefusal(
    `this database is not a demo's (it has ${named(real)}); ` + `run rollcall serve, or ${OTHER_DATABASE} for the demo`,
    { reason: 'conflict' },
  )
}

/**
 * Refuses a second demo on a database: demo.json must keep the address of the first.
 * @param file the path of demo.json
 * @returns a function that lets another demo run
 * @throws AdminRefusal a demo runs already
 */
export async function refuseSecondDemo(db: Database, file: string): Promise<() => Promise<void>> {
  const release = await takeDemoLock(db)
  if (release !== null) return release
  throw new AdminRefusal(
    `a demo runs on this database already (${file} has its address); stop it, or set ROLLCALL_DATA to another folder`,
    { reason: 'conflict' },
  )
}

function named(entries: readonly string[]): string {
  const more = entries.length - MOST_NAMED
  return entries.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
