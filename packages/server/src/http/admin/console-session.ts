/** The session of the console's pages. */
import { sessionCookies } from '../session-cookie.ts'

export const CONSOLE_SESSION = sessionCookies({
  cookie: 'rollcall_session',
  header: 'Rollcall-Console',
  title: 'the console',
})
