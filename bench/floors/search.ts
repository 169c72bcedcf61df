/** The floor of an unsigned search. */
import { floorOf } from '../search/floor.ts'
import { serveAsChild } from '../shared/server-process.ts'

export const start = floorOf()

if (import.meta.main) await serveAsChild(start)
