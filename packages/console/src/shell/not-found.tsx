import { PageFrame, Panel } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { COMMON } from '../texts/common.ts'

/** The page for an address without a page, or without one that this operator may open. */
export const NotFound = () => (
  <PageFrame title={COMMON.notFound}>
    <Panel>
      <Empty title={COMMON.notFoundAdvice}>
        <a href="#/">{COMMON.toOverview}</a>
      </Empty>
    </Panel>
  </PageFrame>
)
