/**
 * Serves the pages from their sources, with the APIs of a running server behind them; the partner page is at /partner.html:
 *
 *   ADMIN_URL=http://127.0.0.1:8081 PEERS_URL=http://127.0.0.1:8080 npm run console
 */
import { createServer } from 'vite'
import { CONSOLE } from './config.ts'

const { ADMIN_URL = 'http://127.0.0.1:8081', PEERS_URL = 'http://127.0.0.1:8080' } = process.env
const proxy = {
  '/admin': { target: ADMIN_URL, changeOrigin: true, headers: { origin: ADMIN_URL } },
  '/partner/api': { target: PEERS_URL, changeOrigin: true, headers: { origin: PEERS_URL } },
}
const server = await createServer({ ...CONSOLE, server: { host: '127.0.0.1', port: 5173, proxy } })
await server.listen()
server.printUrls()
