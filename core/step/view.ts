/** The answer about what happened to a resource. */
import { resultDescription } from '@tollgate/schemas'
import type { Answered } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { TranscriptEntry, TranscriptMessage } from '../net/http.ts'
import type { Step } from '../transcript/types.ts'

export type RequestView = {
  method: string
  url: string
  moves: boolean
  wroteBytes: boolean
  startedMs: number
  durationMs: number
  status?: number
  error?: string
  sentHeaders?: Readonly<Record<string, string>>
  sentBytes: number
  sentBody?: string
  answeredHeaders?: Readonly<Record<string, string>>
  answeredBytes?: number
  answeredBody?: string
}

export type StepView = {
  /** Counts from 1 in the order of time. */
  number: number
  /** ISO 8601, UTC, with milliseconds. */
  at: string
  name: string
  text: string
  outcome?: string
  about?: string
  by?: string
  durationUs?: number
  sent?: Readonly<Record<string, string>>
  answered?: Readonly<Record<string, string>>
  requests?: RequestView[]
}

export type StepsView = Answered & { steps: StepView[] }

export function stepView(step: Step, index: number): StepView {
  const { at, requests, ...rest } = step
  return {
    number: index + 1,
    at: at.toISOString(),
    ...rest,
    ...(requests === undefined ? {} : { requests: requests.map(requestView) }),
  }
}

function requestView({ request, answer, ...entry }: TranscriptEntry): RequestView {
  return {
    ...entry,
    sentBytes: request.bytes,
    ...headersOf('sentHeaders', request),
    ...(request.body === undefined ? {} : { sentBody: request.body }),
    ...(answer === undefined
      ? {}
      : {
          answeredBytes: answer.bytes,
          ...headersOf('answeredHeaders', answer),
          ...(answer.body === undefined ? {} : { answeredBody: answer.body }),
        }),
  }
}

const headersOf = (name: string, { headers }: TranscriptMessage) =>
  Object.keys(headers).length === 0 ? {} : { [name]: headers }

/** @param code what a successful answer about the resource is called. */
export function stepsView(
  id: string,
  steps: readonly Step[],
  about: { code: string; ndc: string; buildNumber: string; now: Date },
): StepsView {
  const { code, ndc, buildNumber, now } = about
  return {
    id,
    result: { code, description: resultDescription(code) },
    steps: steps.map(stepView),
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
}
