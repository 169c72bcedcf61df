/** The server as it is served, in a process of its own; its environment says which database. */

import { createContext } from '@rollcall/server/app/context'
import { startServer } from '@rollcall/server/app/serve'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import { serveAsChild } from '../shared/server-process.ts'

/** Always the same: a database that is kept is measured again. It guards nothing but keys of a benchmark. */
const MASTER_KEY = Buffer.alloc(32, 'bench').toString('base64')

await serveAsChild(async () => {
  const defaults = { ROLLCALL_MASTER_KEY: MASTER_KEY, ROLLCALL_ROLE: 'http', ROLLCALL_DRAIN_TIME: '0' }
  const config = readConfig({ ...defaults, ...process.env })
  const storage = await openStorage(config)
  const server = await startServer(config, await createContext(config, storage.db))
  server.markReady()
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await storage.close()
    },
  }
})
