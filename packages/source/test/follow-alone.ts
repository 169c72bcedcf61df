/** Follows the sources of a database until it is killed. The connection is the first argument, as JSON. */
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { listRegistries } from '@rollcall/records/registries/registries'
import { startFollowers } from '../src/mirror/followers.ts'

const db = openDatabase(JSON.parse(process.argv[2] ?? ''))
const log = { warn: () => undefined, info: () => undefined }
const limits = { ...DEFAULT_LIMITS, node_lease: 1 }
startFollowers({ db, env: process.env, limits, log, registries: () => listRegistries(db) })
