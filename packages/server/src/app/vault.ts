/** The vault of a configuration: its master key is in the environment, or in a file beside the embedded database. */
import { join } from 'node:path'
import { environmentSource, fileSource, type MasterKeySource } from '../keys/master-key.ts'
import { createVault, type Vault } from '../keys/vault.ts'
import type { Database } from '../store/db/database.ts'
import type { Config } from './config.ts'

/** @throws MasterKeyError the master key is missing or wrong */
export const openVault = (config: Config, db: Database): Promise<Vault> =>
  createVault(db, masterKeySource(config))

/** The file is for the embedded database and the demo, and only where the environment names no key. */
export function masterKeySource(config: Config): MasterKeySource {
  if (config.masterKey !== undefined || !config.masterKeyInFile) return environmentSource(config)
  return fileSource(masterKeyFile(config), config.newMasterKey)
}

export const masterKeyFile = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'master-key')
