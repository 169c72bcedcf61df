/** In a demo: a link to its own page, which starts events, and breaks and mends its receiver of callbacks. */
import { Button } from '@mantine/core'
import { useSession } from '../session/session.ts'
import { COMMON } from '../texts/common.ts'

export function DemoPage() {
  const { demo_page } = useSession()
  if (demo_page === null) return null
  return (
    <Button component="a" variant="default" href={demo_page}>
      {COMMON.demoPage}
    </Button>
  )
}
