/** A list that the server pages, below the form of its filter. */
import type { ReactNode } from 'react'
import type { NextStepLink } from '../texts/steps.ts'
import { type FilterField, FilterForm } from './filter-form.tsx'
import { Pager } from './pager.tsx'
import { Empty, NoMatch } from './states.tsx'
import { PanelTable, type TableProps } from './table.tsx'
import type { Filter } from './use-filter.ts'

interface FilteredListProps<Row> extends Omit<TableProps<Row>, 'caption' | 'empty'> {
  readonly filter: Filter
  readonly fields: readonly FilterField[]
  /** Texts of the list: `empty` is shown when there are no rows and no filter is set. */
  readonly texts: { readonly caption: string; readonly empty: string; readonly emptyNote: string }
  /** A link to the page where a first row is made. */
  readonly step?: NextStepLink
  /** The value of the filter `before` for the next page of the list; null on the last page. */
  readonly next?: string | null | undefined
  /** A note about the shown page of the list, beside the links to other pages. */
  readonly note?: ReactNode
  /** Content between the form of the filter and the rows. */
  readonly children?: ReactNode
}

export function FilteredList<Row>(props: FilteredListProps<Row>) {
  const { filter, fields, texts, step, next, note, children, ...table } = props
  const nothing = (
    <Empty title={texts.empty} next={step}>
      {texts.emptyNote}
    </Empty>
  )
  return (
    <>
      <FilterForm filter={filter} fields={fields} />
      {children}
      <PanelTable {...table} caption={texts.caption} empty={filter.isSet ? <NoMatch /> : nothing} />
      <Pager filter={filter} next={next}>
        {note}
      </Pager>
    </>
  )
}
