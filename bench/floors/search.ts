/** The floor of an unsigned search. */
import { startFloor } from '../search/floor.ts'
import { serveAsChild } from '../shared/server-process.ts'

await serveAsChild(() => startFloor())
