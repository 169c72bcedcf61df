/**
 * Stands for `rollcall` in a shell of a test: has the test's process run the command (`command-server.ts`), and does what the
 * command did. The first argument is the socket of that process.
 */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ShellOrder } from './command-server.ts'

const [path = '', ...words] = process.argv.slice(2)
// Only a command that is told to reads its input: a loop of the shell may read the same.
const input = words.some((word) => /(?:^|=)-$/.test(word)) ? await text(process.stdin) : ''
const socket = connect(path)
const order: ShellOrder = { words, env: process.env as ShellOrder['env'], input, cwd: process.cwd() }
socket.end(JSON.stringify(order))
const { code, stdout, stderr } = JSON.parse(await text(socket))
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code ?? 1
