/** A link to the page of a demo, where visitors start events, and break and mend the receiver of callbacks. */
import { Button } from '@mantine/core'
import { useSession } from '../session/session.ts'
import { COMMON } from '../texts/common.ts'

export function DemoPageLink() {
  const { demo_page } = useSession()
  if (demo_page === null) return null
  return (
    <Button component="a" variant="default" href={demo_page}>
      {COMMON.demoPage}
    </Button>
  )
}
