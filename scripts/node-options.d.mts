export declare const programOptions: readonly string[];
export declare const programEnvironment: Readonly<Record<string, string>>;
