/** The types of the first and the last part of a backup. */
import type { CatalogSequence, CatalogTable } from '../store/catalog.ts'

export interface BackupManifest {
  readonly tables: readonly CatalogTable[]
}

export interface TableRowCount extends Pick<CatalogTable, 'schema' | 'name'> {
  readonly rows: number
}

export interface BackupEndPart {
  readonly tables: readonly TableRowCount[]
  readonly sequences: readonly CatalogSequence[]
}
