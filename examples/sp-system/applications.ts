/** Applications as the system is handed them: a number of the case, and who applies. */
import { readFile } from 'node:fs/promises'

export interface Application {
  readonly application: string
  /** Never printed: a decision goes by the number of the application. */
  readonly uin: string
}

/** @throws Error that names the place of what is wrong, and no value */
export async function readApplications(path: string): Promise<readonly Application[]> {
  const list: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(list)) throw new Error('the file must hold a list of applications')
  return list.map((entry: unknown, at) => {
    if (isApplication(entry)) return entry
    throw new Error(`application ${at + 1} of the list must have the texts application and uin`)
  })
}

function isApplication(entry: unknown): entry is Application {
  if (typeof entry !== 'object' || entry === null) return false
  const { application, uin } = entry as Partial<Application>
  return typeof application === 'string' && typeof uin === 'string' && uin !== ''
}
