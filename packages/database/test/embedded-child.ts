/** A process of its own that opens the PostgreSQL of the directory in argv, says so, and closes it when told to. */
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'

const [directory = '', user] = process.argv.slice(2)
if (user) {
  // Become an ordinary user, as root may.
  const { uid, gid } = JSON.parse(user)
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
}
try {
  const postgres = await openEmbeddedPostgres(directory)
  process.stdout.write('open\n')
  process.stdin.once('data', async () => {
    await postgres.close()
    process.exit()
  })
} catch (error) {
  process.stdout.write(`${error}\n`)
  process.exit(1)
}
