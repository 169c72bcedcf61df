/** The server as it is served, in a process of its own; its environment says which database. */

import { createContext } from '@rollcall/server/app/context'
import { startServer } from '@rollcall/server/app/serve'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import { type StartServer, serveAsChild } from '../shared/server-process.ts'

export const start: StartServer = async (env) => {
  const set = readConfig({ ROLLCALL_ROLE: 'http', ...env })
  const config = { ...set, limits: { ...set.limits, drain_time: 0, stop_time: 1 } }
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
}

if (import.meta.main) await serveAsChild(start)
