/** The server as it is served, in a process of its own; its environment says which database. */
import { createContext, openStorage, readConfig, startServer } from '@rollcall/server'
import { serveAsChild } from '../shared/server-process.ts'

await serveAsChild(async () => {
  const config = readConfig(process.env)
  const storage = await openStorage(config)
  const server = await startServer(config, createContext(config, storage.db))
  server.markReady()
  return {
    port: server.port,
    async stop() {
      await server.stop()
      await storage.close()
    },
  }
})
