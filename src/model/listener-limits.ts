// Most parts that a listener takes. A leaf: the controller counts by them without the rest of the model.

export const sectionsMax = 1000;
export const certificatesMax = 1000;
