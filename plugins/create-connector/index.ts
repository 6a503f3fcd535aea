export { type Choices, type Part, parts, type Wire, wires } from './choices.ts'
export { createConnector } from './create.ts'
