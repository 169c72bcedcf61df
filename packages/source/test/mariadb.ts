/** The MariaDB of the test run. */

import { randomBytes } from 'node:crypto'
import { createConnection as connectTo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createConnection } from 'mysql2/promise'
import { inject } from 'vitest'

/** Whether mariadbd is installed. Without it its tests are skipped, and the end of the run says so. */
export const hasMariadb = (): boolean => inject('mariadb') !== null

export interface MariadbDatabase {
  readonly name: string
  /** The address of an account that may do everything. */
  readonly address: string
  /** The address of another account. */
  addressOf(user: string, password: string): string
  /** Runs a statement as the account that may do everything. */
  run(statement: string, values?: readonly unknown[]): Promise<unknown>
  /** Connects again, after the server was killed. */
  reconnect(): Promise<void>
  drop(): Promise<void>
}

/** Makes an empty database. @param socketPath that of another server than the MariaDB of the run */
export async function mariadbDatabase(socketPath?: string): Promise<MariadbDatabase> {
  return databaseAt(socketPath ?? (await sharedSocket()))
}

async function sharedSocket(): Promise<string> {
  const starter = inject('mariadb')
  if (starter === null) throw new Error('mariadbd is not installed')
  return text(connectTo(starter))
}

async function databaseAt(socketPath: string): Promise<MariadbDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const connect = async () => {
    const made = await createConnection({ socketPath, user: 'root' })
    return made.on('error', () => undefined)
  }
  let connection = await connect()
  await connection.query(`create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
  await connection.query(`use ${name}`)
  const addressOf = (user: string, password: string): string => {
    const url = new URL('mariadb://localhost')
    url.username = user
    url.password = password
    url.pathname = `/${name}`
    url.searchParams.set('socket', socketPath)
    return url.href
  }
  return {
    name,
    address: addressOf('root', ''),
    addressOf,
    run: async (statement, values = []) => (await connection.query(statement, values as never))[0],
    async reconnect() {
      connection.destroy()
      connection = await connect()
      await connection.query(`use ${name}`)
    },
    async drop() {
      await connection.query(`drop database ${name}`)
      await connection.end()
    },
  }
}
