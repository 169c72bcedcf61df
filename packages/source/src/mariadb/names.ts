import { createSqlNameWriter } from '../engine/names.ts'

export const MARIADB_NAME_WRITER = createSqlNameWriter('`')
