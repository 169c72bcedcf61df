/** A table of rows that the server has chosen, sorted and paged. On a phone each row is a card. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { COMMON } from '../texts/common.ts'
import { Panel } from './page.tsx'
import { Empty, Fault, ReloadFailedNotice } from './states.tsx'
import styles from './table.module.css'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** `end` for numbers, which are aligned to the end of the cell. */
  readonly align?: 'end'
  /** True for a column that is left out on narrow screens. */
  readonly wideOnly?: boolean
  /** True for the column of the state: it is moved to second place, and stays in view while the table is scrolled. */
  readonly stays?: boolean
}

interface TableLoadingState<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  readonly isPlaceholderData?: boolean
  readonly refetch: () => unknown
}

/** Makes the state of a query that has ended, from rows that are loaded already, for `DataTable`. */
export const rowsAsQuery = <Row,>(data: readonly Row[]): TableLoadingState<readonly Row[]> => ({
  data,
  error: null,
  refetch: () => undefined,
})

export interface TableProps<Row> {
  /** The meaning of the table, for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly query: TableLoadingState<readonly Row[]>
  readonly keyOf: (row: Row) => string | number
  /** Returns the address of a row's own page, to which the first cell links. */
  readonly linkOf?: (row: Row) => string | null
  /** Content in place of the table when there are no rows. */
  readonly empty?: ReactNode
}

const SKELETON_ROWS = 6

/** Roles with which screen readers still read a table where the layout shows the cells as blocks. */
const TABLE_ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader', scope: 'col' },
  cell: { role: 'cell' },
} as const

const withStateColumnSecond = <Row,>([first, ...others]: readonly Column<Row>[]): readonly Column<Row>[] =>
  first === undefined ? [] : [first, ...others.toSorted((a, b) => Number(b.stays ?? 0) - Number(a.stays ?? 0))]

/** Finds out on which sides the rows of a table are cut off. The edges of the table then show that there is more. */
function useCutTableEdges() {
  const ref = useRef<HTMLDivElement>(null)
  const [more, setMore] = useState('')
  const look = () => {
    const { scrollLeft = 0, clientWidth = 0, scrollWidth = 0 } = ref.current ?? {}
    const isCut = scrollLeft + clientWidth < scrollWidth - 1
    setMore([scrollLeft > 1 ? 'start' : '', isCut ? 'end' : ''].join(' ').trim())
  }
  // Looks after every render, because new rows may be wider than the earlier ones.
  useEffect(() => {
    look()
    const observer = new ResizeObserver(look)
    if (ref.current !== null) observer.observe(ref.current)
    return () => observer.disconnect()
  })
  return { ref, onScroll: look, 'data-more': more || undefined }
}

export function DataTable<Row>(props: TableProps<Row>) {
  const columns = withStateColumnSecond(props.columns)
  const edges = useCutTableEdges()
  const { caption, query, empty = <Empty title={COMMON.emptyTable} /> } = props
  const { data, error, refetch, isPlaceholderData } = query
  if (error !== null && data === undefined) return <Fault error={error} retry={() => void refetch()} />
  if (data?.length === 0) {
    return (
      <>
        <ReloadFailedNotice query={query} />
        {empty}
      </>
    )
  }
  return (
    <>
      <ReloadFailedNotice query={query} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls a wide table with the arrow keys */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is no set of fields */}
      <div {...edges} className={styles.scroll} role="group" aria-label={caption} tabIndex={0}>
        <table {...TABLE_ROLES.table} className={styles.table} aria-busy={data === undefined || isPlaceholderData}>
          <caption className={styles.caption}>{caption}</caption>
          <thead {...TABLE_ROLES.group}>
            <tr {...TABLE_ROLES.row}>
              {columns.map(({ title, align, wideOnly, stays }) => (
                <th
                  key={title}
                  {...TABLE_ROLES.head}
                  data-align={align}
                  data-wide={wideOnly || undefined}
                  data-stays={stays || undefined}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody {...TABLE_ROLES.group}>
            {data === undefined ? <LoadingRows columns={columns} /> : <Rows {...props} columns={columns} rows={data} />}
          </tbody>
        </table>
      </div>
    </>
  )
}

/** A `DataTable` on a surface of its own. */
export const PanelTable = <Row,>(props: TableProps<Row>) => (
  <Panel>
    <DataTable {...props} />
  </Panel>
)

function Rows<Row>({ rows, columns, keyOf, linkOf }: TableProps<Row> & { readonly rows: readonly Row[] }) {
  return rows.map((row) => {
    const link = linkOf?.(row) ?? null
    return (
      <tr key={keyOf(row)} {...TABLE_ROLES.row} data-link={link !== null || undefined}>
        {columns.map(({ title, cell, align, wideOnly, stays }, at) => (
          <td
            key={title}
            {...TABLE_ROLES.cell}
            data-label={title}
            data-align={align}
            data-wide={wideOnly || undefined}
            data-stays={stays || undefined}
          >
            {at === 0 && link !== null ? (
              <a className={styles.link} href={`#${link}`}>
                {cell(row)}
              </a>
            ) : (
              <span className={styles.value}>{cell(row)}</span>
            )}
          </td>
        ))}
      </tr>
    )
  })
}

function LoadingRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return Array.from({ length: SKELETON_ROWS }, (_, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
    <tr key={at} {...TABLE_ROLES.row}>
      {columns.map(({ title, wideOnly }) => (
        <td key={title} {...TABLE_ROLES.cell} data-label={title} data-wide={wideOnly || undefined}>
          <span className={styles.line} />
          {at === 0 && <span className={styles.unseen}>{COMMON.loading}</span>}
        </td>
      ))}
    </tr>
  ))
}
