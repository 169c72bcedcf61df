/** Keeps databases of demos and of production apart: the commands of each refuse the database of the other. */
import type { Database } from '@rollcall/database/database'
import { listRegistriesAndParticipants, takeDemoLock } from '@rollcall/participants/store/demo-data'
import { AdminRefusal } from '../admin-function.ts'

/** The most registries and participants that a refusal names. */
const MOST_NAMES_SHOWN = 3

const DATABASE_HINT = 'set ROLLCALL_DATA or DATABASE_URL to another database'

/** Refuses to serve the database of a demo. @throws AdminRefusal */
export async function refuseDemoData(db: Database): Promise<void> {
  const { demo } = await listRegistriesAndParticipants(db)
  if (demo.length === 0) return
  throw new AdminRefusal(
    `this database is a demo's (it has ${namesText(demo)}), whose secret lies in a file; ` +
      `run rollcall demo, or ${DATABASE_HINT}`,
    { reason: 'conflict' },
  )
}

/** Refuses to add an operator's own data to the database of a demo. @throws AdminRefusal */
export async function refuseToAddToDemo(db: Database): Promise<void> {
  const { demo } = await listRegistriesAndParticipants(db)
  if (demo.length === 0) return
  throw new AdminRefusal(
    `this database is a demo's (it has ${namesText(demo)}), and nothing of your own belongs into it; ` +
      `${DATABASE_HINT}, such as export ROLLCALL_DATA=.rollcall/real, and run rollcall migrate; ` +
      'to change the demo itself, set ROLLCALL_DEMO_WRITES=1',
    { reason: 'conflict' },
  )
}

/** Refuses a database with real registries or participants. @throws AdminRefusal */
export async function refuseRealData(db: Database): Promise<void> {
  const { real } = await listRegistriesAndParticipants(db)
  if (real.length === 0) return
  throw new AdminRefusal(
    `this database is not a demo's (it has ${namesText(real)}); ` + `run rollcall serve, or ${DATABASE_HINT} for the demo`,
    { reason: 'conflict' },
  )
}

/**
 * Refuses a second demo on a database: demo.json has the address of the first demo, and must keep it.
 * @param file the path of demo.json
 * @returns a function that releases the lock, so that another demo may run
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

function namesText(entries: readonly string[]): string {
  const more = entries.length - MOST_NAMES_SHOWN
  return entries.slice(0, MOST_NAMES_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
