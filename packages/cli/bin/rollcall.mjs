#!/usr/bin/env node
// Plain JavaScript on purpose: an older Node must be able to read this file. Such a Node hands over to the npm package
// `node` that is installed beside this one, or says what to do.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const NEEDED = 24

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  await import(main)
} else {
  const node = installedNode()
  if (node === null) {
    process.stderr.write(
      `rollcall needs Node ${NEEDED} or later, and this is Node ${process.versions.node}. Install a later Node from ` +
        `https://nodejs.org, or put one beside rollcall: npm install node@${NEEDED}\n`,
    )
    process.exitCode = 1
  } else {
    const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('error', ({ message }) => {
      process.stderr.write(`rollcall: the npm package node does not start: ${message}\n`)
      process.exitCode = 1
    })
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? (signal ? 1 : 0)
    })
  }
}

/** The program of the npm package `node`, or null where it is not installed. */
function installedNode() {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node')
  } catch {
    return null
  }
}
