/** Commands in shells of tests: a start of the command takes longer than most of what shells ask it for. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inject } from 'vitest'
import { runInHost } from './command.ts'
import type { Order } from './command-host.ts'

/** A command as a shell calls it, with the environment and the folder that it has there. */
export type ShellOrder = Omit<Order, 'mark'>

let listening: Promise<string> | undefined

/** The lines of a script that let it call `rollcall`. Its commands read nothing but what the script gives them. */
export async function shellFunction(): Promise<string> {
  listening ??= listen()
  const { client } = inject('programs')
  return `exec < /dev/null\nrollcall() { '${process.execPath}' '${client}' '${await listening}' "$@"; }`
}

/** @returns the path of the socket; it goes with the folder of the programs */
async function listen(): Promise<string> {
  const path = join(inject('programs').folder, `commands-${process.pid}`)
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    socket.on('error', () => undefined)
    socket.end(JSON.stringify(await runInHost(JSON.parse(await text(socket)) as ShellOrder)))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  server.unref()
  return path
}
