/** In a demo: starts and stops its simulation, so that there is something to look at. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answered, api } from '../api/client.ts'
import { useMay, useSession } from '../session/session.ts'
import { SIMULATION as TEXTS } from '../texts/simulation.ts'
import { useAct } from './use-act.tsx'

/** Undefined where there is none. */
export function useSimulation(): { readonly running: boolean } | undefined {
  const { demo } = useSession()
  const { data } = useQuery({
    queryKey: ['simulation'],
    queryFn: () => answered(api.GET('/admin/v1/demo/simulation')),
    enabled: demo,
  })
  return data
}

export function Simulation() {
  const may = useMay()
  const simulation = useSimulation()
  const act = useAct({
    call: (running: boolean) => answered(api.POST('/admin/v1/demo/simulation', { body: { running } })),
    changes: ['simulation'],
    done: ({ running }) => (running ? TEXTS.started : TEXTS.stopped),
  })
  if (simulation === undefined || !may('operate')) return null
  const { running } = simulation
  return (
    <Button variant="default" loading={act.isPending} onClick={() => act.mutate(!running)}>
      {running ? TEXTS.stop : TEXTS.start}
    </Button>
  )
}
