/**
 * Serves the pages from their sources, with the admin API of a running server behind them:
 *
 *   ADMIN_URL=http://127.0.0.1:8081 npm run console
 */
import { createServer } from 'vite'
import { CONSOLE } from './config.ts'

const { ADMIN_URL = 'http://127.0.0.1:8081' } = process.env
const server = await createServer({
  ...CONSOLE,
  server: { host: '127.0.0.1', port: 5173, proxy: { '/admin': { target: ADMIN_URL, changeOrigin: true } } },
})
await server.listen()
server.printUrls()
