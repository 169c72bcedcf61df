/** The floor of a signed search: it verifies one Ed25519 signature for every request. */
import { startFloor } from '../search/floor.ts'
import { floorVerifier } from '../search/floor-seal.ts'
import { serveAsChild } from '../shared/server-process.ts'

await serveAsChild(async () => startFloor(await floorVerifier()))
