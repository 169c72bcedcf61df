/** The floor of a signed search: it verifies one Ed25519 signature for every request. */
import { floorOf } from '../search/floor.ts'
import { floorVerifier } from '../search/floor-seal.ts'
import { serveAsChild } from '../shared/server-process.ts'

export const start = floorOf(floorVerifier())

if (import.meta.main) await serveAsChild(start)
