export declare const programOptions: readonly string[];
