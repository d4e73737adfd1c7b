// Middleware type grpcWeb: gRPC-Web of browsers becomes gRPC (contract.md §8.11). It has no settings.
import { Rules } from '../rule.ts';

// A class without a field or a rule is one that class-validator does not know, and refuses.
@Rules({ hasNoSettings: () => [] })
export class GrpcWebConfig {}
